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
      #expect(check.plan.entries.map(\.version.id) == ids.map { .row($0) })
      #expect(check.counts == [.error: Int64(ids.count)])
    }
  }

  @Test func `a body that is missing while no process has the store open is lost`() throws {
    let check = try check([response(1, .missingBodyFile)], inUse: false) { _ in }
    #expect(check.suspects.isEmpty)
    #expect(check.plan.entries.map(\.reason) == [.missingBody])
  }

  @Test func `an entry with several errors is removed once`() throws {
    var faulty = response(1, .undecodable)
    faulty.notes += [.init(.missingBodyFile, ""), .init(.noBlobRow, "")]
    var check = try check([faulty], inUse: true) { _ in }
    try check.confirm(in: MemoryStore([faulty])) { _ in }
    #expect(check.plan.entries.map(\.reason) == [.undecodable])
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
      #expect(check.plan.entries.map(\.version.id) == ids.map { .row($0) })
      #expect(check.plan.orphans == orphans)
      #expect(check.plan.storedEntries == 2)
      #expect(check.counts == [.error: 2, .warning: 1])
    }
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
    plan.restrict(to: removal)
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
