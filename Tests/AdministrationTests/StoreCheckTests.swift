import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import Administration

@Suite struct StoreCheckTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test func `a body that is missing while the app is running is checked again`() throws {
    let lost = [response(1), response(2, .noBodyRow), response(3, .missingBodyFile)]
    for (later, ids) in [
      // The file is still missing; the app removed the entry; the app stored another entry; the file exists.
      (lost, [2, 3]), ([lost[0], lost[1]], [2]),
      ([lost[0], lost[1], response(3, .missingBodyFile, stored: 60)], [2]),
      ([lost[0], lost[1], response(3)], [2]),
    ] as [([StoredResponse], [Int64])] {
      var findings: [Finding] = []
      var check = try check(lost, inUse: true) { findings.append($0) }
      #expect(findings.map(\.id) == [.row(2)])
      try check.confirm(in: MemoryStore(later)) { findings.append($0) }
      #expect(findings.map(\.id) == ids.map { .row($0) })
      #expect(try check.plan.entries.ids == ids.map { .row($0) })
      #expect(check.counts == [.error: Int64(ids.count)])
    }
  }

  @Test func `a body that is missing while no process has the store open is lost`() throws {
    let check = try check([response(1, .missingBodyFile)], inUse: false) { _ in }
    #expect(check.suspects.isEmpty)
    #expect(try check.plan.entries.array.map(\.reason) == [.missingBody])
  }

  @Test func `an entry with several errors is removed once`() throws {
    var faulty = response(1, .undecodable)
    faulty.notes += [.init(.missingBodyFile, ""), .init(.noBlobRow, "")]
    var check = try check([faulty], inUse: true) { _ in }
    try check.confirm(in: MemoryStore([faulty])) { _ in }
    #expect(try check.plan.entries.array.map(\.reason) == [.undecodable])
    #expect(check.counts == [.error: 3])
  }

  @Test func `notes alone leave a store clean`() throws {
    let check = try check([response(1, .wrongHash), response(2, .tooLarge)], inUse: false) { _ in }
    #expect(check.counts == [.note: 2])
    #expect(check.isClean)
    #expect(check.plan.isEmpty)
  }

  @Test func `a plan contains the requested kinds of findings`() throws {
    var store = MemoryStore([response(1, .undecodable), response(2, .noBlobRow)])
    let orphan = OrphanFile(name: "A", size: 5, modified: 7)
    store.findings = [
      Finding(.init("lost", .warning, "it is lost", repair: .orphans), "a file", orphan: orphan)
    ]
    for (repairs, ids, orphans) in [
      ([], [], []), ([.rows], [2], []), ([.orphans], [], [orphan]),
      ([.rows, .undecodable, .orphans], [1, 2], [orphan]),
    ] as [(Set<Finding.Repair>, [Int64], [OrphanFile])] {
      let options = StoreCheck.Options(fully: false, repairs: repairs, now: now, clock: now)
      let check = try StoreCheck(of: store, options) { _ in }
      #expect(try check.plan.entries.ids == ids.map { .row($0) })
      #expect(check.plan.orphans == orphans)
      #expect(check.plan.storedEntries == 2)
      #expect(check.counts == [.error: 2, .warning: 1])
    }
  }

  @Test(arguments: [1, 3, 255, 256, 257, nil])
  func `findings are in the order of ids, however the entries are divided`(length: Int?) throws {
    let responses = (1...600).map { (id: Int64) in
      var response = response(id, id % 5 == 0 ? .undecodable : nil)
      // Two findings on some, and one by a rule before them.
      if id % 10 == 0 { response.request.method = "POST" }
      if id < 300 { response.status = 404 }
      return response
    }
    var store = MemoryStore(responses)
    store.tallyLength = length
    var criteria = SelectionCriteria()
    criteria.statuses = [404...404]
    var rule = EntryRule(matching: criteria)
    rule.action = .never
    let rules = EntryRules([rule], at: now)
    var found: [String] = []
    let options = StoreCheck.Options(
      fully: false, repairs: [.undecodable], now: now, clock: now, rules: rules)
    let check = try StoreCheck(of: store, options) { finding in
      guard case .row(let id)? = finding.id else { return }
      found.append("\(id) \(finding.code.name)")
    }
    #expect(
      found
        == (1...600).flatMap { id -> [String] in
          (id < 300 ? ["\(id) never-by-rule"] : []) + (id % 5 == 0 ? ["\(id) undecodable"] : [])
            + (id % 10 == 0 ? ["\(id) not-get"] : [])
        })
    #expect(try check.plan.entries.ids == (1...120).map { StoredResponse.ID.row($0 * 5) })
    #expect(check.plan.storedEntries == 600)
    #expect(check.counts == [.error: 120, .warning: 299, .note: 60] as [Finding.Severity: Int64])
  }

  @Test func `findings before damage are reported`() throws {
    var store = MemoryStore((1...400).map { response($0, .undecodable) })
    store.damage = 300
    var found: [Finding] = []
    let options = StoreCheck.Options(
      fully: false, repairs: [.undecodable], now: now, clock: now)
    let check = try StoreCheck(of: store, options) { found.append($0) }
    #expect(found.dropLast().map(\.id) == (1...300).map { StoredResponse.ID.row($0) })
    #expect(found.last?.message == "reading stopped after 300 entries: it is damaged")
    #expect(check.plan.storedEntries == 300 && check.plan.entries.count == 300)
    #expect(check.isCut)
  }

  @Test func `a failure to report ends the check`() throws {
    struct Failure: Error {}
    let store = MemoryStore((1...600).map { response($0, .undecodable) })
    let options = StoreCheck.Options(fully: false, repairs: [], now: now, clock: now)
    var count = 0
    #expect(throws: Failure.self) {
      try StoreCheck(of: store, options) { _ in
        count += 1
        if count == 300 { throw Failure() }
      }
    }
    #expect(count == 300)
  }

  @Test func `orphans count as entries for limits`() throws {
    var store = MemoryStore([response(1), response(2), response(3)])
    store.findings = [
      Finding(
        .init("lost", .warning, "it is lost", repair: .orphans), "a file",
        orphan: OrphanFile(name: "A", size: 5, modified: 7))
    ]
    let options = StoreCheck.Options(fully: false, repairs: [.orphans], now: now, clock: now)
    let plan = try StoreCheck(of: store, options) { _ in }.plan
    #expect(plan.exceeds(.entries(0)) && !plan.exceeds(.entries(1)))
    #expect(plan.exceeds(.percent(24)) && !plan.exceeds(.percent(25)))
    #expect(plan.orphanBytes == 5 && plan.returnedBytes == 5)
  }

  @Test func `a plan omits the orphans that were kept`() throws {
    var plan = try check([], inUse: false) { _ in }.plan
    plan.orphans = ["A", "B", "C", "D"].map { OrphanFile(name: $0, size: 1, modified: 1) }
    var removal = Removal()
    removal.visitedOrphans = 3
    removal.skippedOrphans = ["B"]
    try plan.restrict(to: removal)
    #expect(plan.orphans.map(\.name) == ["A", "C"])
  }

  private func check(
    _ responses: [StoredResponse], inUse: Bool, _ report: (Finding) -> Void
  ) throws -> StoreCheck {
    var store = MemoryStore(responses)
    store.description.inUse = inUse
    let options = StoreCheck.Options(
      fully: false, repairs: Set(Finding.Repair.allCases), now: now, clock: now)
    return try StoreCheck(of: store, options, report)
  }

  private func response(
    _ id: Int64, _ note: StoredResponse.Note.Code? = nil, stored: Double = 0
  ) -> StoredResponse {
    var response = StoredResponse(id: .row(id))
    response.url = "https://a.example/"
    response.key = "https://a.example/"
    response.stored = Timestamp(secondsSince1970: stored)
    if let note { response.notes = [.init(note, "")] }
    return response
  }
}
