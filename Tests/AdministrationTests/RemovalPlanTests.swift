import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct RemovalPlanTests {
  private let now = Timestamp(secondsSince1970: 1_700_000_000)

  @Test func `a plan contains the selected entries and counts the kept ones`() throws {
    var selection = Selection()
    selection.largerThan = 100
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(try plan.entries.ids == [.row(2), .row(3)])
    #expect((plan.storedEntries, plan.keptEntries) == (4, 2))
    #expect((plan.bodyBytes, plan.returnedBytes) == (700, 500))
    #expect(
      try plan.entries.array.map(\.version.key) == ["https://a.example/2", "https://a.example/3"])
  }

  @Test func `names without an entry are reported, and entries of unknown age are counted`() throws
  {
    var selection = Selection()
    selection.names = EntryNames([.url("https://a.example/2"), .id(.row(9)), .id(.row(4))])
    selection.before = now
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(try plan.entries.ids == [.row(2)])
    #expect(plan.absent.names == [.id(.row(9))])
    #expect(
      plan.kept == [
        .notSelected: KeptEntries(entries: 2, bodyBytes: 600), .unknownAge: KeptEntries(entries: 1),
      ])
  }

  @Test func `entries of unknown freshness are counted and kept`() throws {
    var selection = Selection()
    selection.freshness = [.stale]
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(plan.entries.isEmpty)
    #expect(plan.kept == [.unknownFreshness: .init(entries: 4, bodyBytes: 800)])
  }

  @Test(arguments: [
    (RemovalCap.entries(2), false), (.entries(1), true), (.percent(50), false),
    (.percent(49.9), true), (.percent(0), true),
  ])
  func `a limit is exceeded only above its value`(limit: RemovalCap, exceeds: Bool) throws {
    var selection = Selection()
    selection.largerThan = 100
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(plan.exceeds(limit) == exceeds)
  }

  @Test func `a plan does not depend on decoding unselected entries`() throws {
    var selections = (0..<4).map { _ in Selection() }
    selections[0].largerThan = 100
    selections[1].names = EntryNames([.id(.row(2)), .id(.row(9))])
    selections[2].largerThan = -1
    selections[3].before = now
    selections[3].ageBasis = .firstStored
    for selection in selections {
      let source = NumberedStore(store: store)
      let plan = try RemovalPlan(removing: selection, from: source, now: #require(now))
      let whole = try RemovalPlan(removing: selection, from: store, now: #require(now))
      #expect(try plan.entries.array == whole.entries.array)
      #expect(plan.kept == whole.kept && plan.absent == whole.absent)
      #expect(plan.storedEntries == whole.storedEntries)
      #expect(plan.footprint == whole.footprint)
      #expect(source.projections.first?.isDisjoint(with: [.url, .stored]) == true)
    }
  }

  @Test func `a plan without measuring the rest removes the same entries and reads no bodies`()
    throws
  {
    var selection = Selection()
    selection.names = EntryNames([.id(.row(2)), .id(.row(4))])
    let source = NumberedStore(store: store)
    let plan = try RemovalPlan(
      removing: selection, from: source, now: #require(now), measuringKept: false)
    #expect(plan.entries.count == 2)
    let measured = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(try plan.entries.array == measured.entries.array)
    #expect(plan.storedEntries == measured.storedEntries)
    #expect(plan.kept.mapValues(\.entries) == measured.kept.mapValues(\.entries))
    #expect(
      source.projections == [.file, [.key, .url, .stored, .body, .file]])
  }

  @Test func `skipped and unvisited entries are removed from the result`() throws {
    var plan = try RemovalPlan(removing: Selection(), from: store, now: #require(now))
    var removal = Removal()
    removal.visited = 3
    removal.skipped = [.row(2)]
    try plan.restrict(to: removal)
    #expect(try plan.entries.ids == [.row(1), .row(3)])
    #expect(plan.keptEntries == 2)
  }

  @Test func `near misses have the same path and a different query`() throws {
    let urls: [ByteString] = [
      "https://a.example/p?x=1", "https://a.example/p", "https://a.example/p#f",
      "https://a.example/p?x=2", "https://a.example/q",
    ]
    let store = MemoryStore(
      urls.enumerated().map { index, url in
        var response = StoredResponse(id: .row(Int64(index)))
        response.url = url
        return response
      })
    let misses = try NearMisses(to: ["HTTPS://A.example/p?y"], in: store)
    #expect(misses.urls(near: "HTTPS://A.example/p?y") == Array(urls.prefix(3)))
    #expect(misses.urls(near: "https://a.example/r") == [])
  }

  @Test func `only regular files are removed`() throws {
    let plan = try RemovalPlan(removing: Selection(), from: folder, now: #require(now))
    #expect(try plan.entries.ids == [.file("1"), .file("2"), .file("3")])
    #expect(plan.kept == [.notARegularFile: KeptEntries(entries: 1)])
    #expect((plan.storedEntries, plan.bodyBytes) == (4, 6))
    #expect((plan.returnedBytes, plan.footprintAfter) == (600, 50))
    var selection = Selection()
    selection.names = EntryNames([.id(.file("4")), .url("https://a.example/1")])
    let named = try RemovalPlan(removing: selection, from: folder, now: #require(now))
    #expect(try named.entries.ids == [.file("1")])
    #expect(named.kept[.notARegularFile] == KeptEntries(entries: 1))
    #expect((named.returnedBytes, named.footprintAfter) == (100, 550))
  }

  @Test(arguments: [(600, 0), (599, 1), (500, 1), (499, 2), (300, 2), (299, 3), (0, 3)])
  func `removing a file frees its size, and no more files are removed than necessary`(
    limit: ByteCount, count: Int
  )
    throws
  {
    var limits = CacheLimits()
    limits.bytes = limit
    let plan = try RemovalPlan(
      enforcing: limits, on: folder, among: Selection(), now: #require(now))
    let oldest: [StoredResponse.ID] = [.file("1"), .file("2"), .file("3")]
    #expect(try plan.entries.ids == Array(oldest.prefix(count)))
    #expect(plan.footprintAfter == [650, 550, 350, 50][count])
    #expect(plan.meetsLimits == true)
  }

  /// Entries of a Foundation cache: three of 100 to 300 bytes, oldest first, and one of 50 bytes that is not a regular
  /// file.
  private let folder: MemoryStore = {
    var store = MemoryStore(
      (1...4).map { number in
        var response = StoredResponse(id: .file(ByteString("\(number)")))
        response.url = ByteString("https://a.example/\(number)")
        response.stored = Timestamp(secondsSince1970: 1_600_000_000 + Double(number))
        guard number != 4 else { return response }
        response.bodySize = ByteCount(number)
        response.file = FileVersion(number: 1, modified: 1, size: ByteCount(number * 100))
        return response
      })
    store.size.bodyFilesBytes = 650
    store.description.format = .foundation
    return store
  }()

  /// Four entries: of 100, 200 and 500 bytes, the last in a body file, and one without a body or a time.
  private let store = MemoryStore(
    [100, 200, 500, nil].enumerated().map { index, size in
      var response = StoredResponse(id: .row(Int64(index + 1)))
      response.url = ByteString("https://a.example/\(index + 1)")
      response.key = response.url
      response.bodySize = size.map { ByteCount($0) }
      response.bodyLocation = size == 500 ? .file : size == nil ? .missing : .inline
      response.stored = size == nil ? nil : Timestamp(secondsSince1970: 1_600_000_000)
      return response
    })
}

@Suite struct CacheLimitsTests {
  /// Ten entries of 100 to 1,000 bytes in files, oldest first, each of which takes 1,000 bytes of the database, too.
  private let store: MemoryStore = {
    var store = MemoryStore(
      (1...10).map { number in
        var response = StoredResponse(id: .row(Int64(number)))
        response.bodySize = ByteCount(number * 100)
        response.bodyLocation = .file
        response.stored = Timestamp(secondsSince1970: Double(number) * 1_000)
        return response
      })
    store.size.databaseBytes = 59_152
    store.size.emptyBytes = 49_152
    store.pagesOfEntry = 1_000
    store.size.bodyFilesBytes = 5_500
    return store
  }()

  private func removed(
    at now: Double = 10_000, _ change: (inout CacheLimits) -> Void
  ) throws -> (reasons: [String], isMet: Bool?) {
    var limits = CacheLimits()
    change(&limits)
    let plan = try RemovalPlan(
      enforcing: limits, on: store, among: Selection(),
      now: #require(Timestamp(secondsSince1970: now)))
    let reasons = try plan.entries.array.map { "\($0.version.id) \($0.reason.rawValue)" }
    return (reasons, plan.meetsLimits)
  }

  @Test func `nothing is removed within the limits`() throws {
    let answer = try removed {
      ($0.bytes, $0.entries, $0.age, $0.entryBytes) = (64_652, 10, 9_000, 1_000)
      $0.lowPercent = 10
    }
    #expect(answer.reasons == [])
    #expect(answer.isMet == true)
  }

  @Test func `the oldest entries are removed first, down to the low mark`() throws {
    #expect(
      try removed { $0.entries = 8 }.reasons == ["row(1) over-entries", "row(2) over-entries"])
    let low = try removed {
      $0.entries = 8
      $0.lowPercent = 75
    }
    #expect(low.reasons.count == 4)
  }

  @Test func `sizes that overflow do not trap`() throws {
    let now = try #require(Timestamp(secondsSince1970: 10_000))
    let fields: [WritableKeyPath<Footprint, ByteCount>] = [
      \.databaseBytes, \.walBytes, \.shmBytes, \.bodyFilesBytes, \.freeBytes, \.orphanBytes,
      \.allocatedBytes, \.emptyBytes, \.pageBytes,
    ]
    for seed in 0..<500 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      func size() -> ByteCount { [0, 4_096, .max][Int(random.next() % 3)] }
      var store = MemoryStore(
        (1...3).map { number in
          var response = StoredResponse(id: .row(Int64(number)))
          (response.bodySize, response.bodyLocation) = (size(), .inline)
          response.stored = now
          return response
        })
      for field in fields { store.size[keyPath: field] = size() }
      store.size.growthBytes = size() - size()
      var limits = CacheLimits()
      (limits.bytes, limits.bytesToFree) = (size(), size())
      store.pagesOfEntry = size()
      limits.isBestEffort = seed.isMultiple(of: 2)
      let plan = try RemovalPlan(enforcing: limits, on: store, among: Selection(), now: now)
      #expect(plan.footprintAfter >= 0, "seed \(seed)")
    }
  }

  @Test func `an enforcement decodes the URL and key of removed entries`() throws {
    var limits = CacheLimits()
    (limits.entries, limits.order) = (4, [.largest])
    let now = try #require(Timestamp(secondsSince1970: 10_000))
    var store = MemoryStore(
      store.responses.map { response in
        var response = response
        response.url = "https://a.example/"
        response.key = "a key"
        return response
      })
    store.size = self.store.size
    let plan = try RemovalPlan(enforcing: limits, on: store, among: Selection(), now: now)
    let source = NumberedStore(store: store)
    let again = try RemovalPlan(enforcing: limits, on: source, among: Selection(), now: now)
    #expect(try again.entries.array == plan.entries.array)
    #expect((again.kept, again.meetsLimits) == (plan.kept, plan.meetsLimits))
    #expect(plan.entries.count == 6)
    #expect(try plan.entries.array.allSatisfy { $0.url != nil && $0.version.key != nil })
    #expect(source.projections.map { $0.contains(.url) } == [false, true])
  }

  @Test func `a second run removes nothing, whoever has the cache open`() throws {
    let now = try #require(Timestamp(secondsSince1970: 10_000))
    var limits = CacheLimits()
    (limits.bytes, limits.lowPercent) = (60_000, 95)
    let done = try RemovalPlan(enforcing: limits, on: store, among: Selection(), now: now)
    // Two entries are 2,300 bytes, and three 3,600; five are 6,500, and six 8,100.
    #expect(try done.entries.ids == (1...6).map { .row($0) })
    #expect((done.inUse, done.inUseAfter, done.meetsLimits) == (64_652, 56_552, true))
    var left = MemoryStore(Array(store.responses.dropFirst(6)))
    (left.size, left.pagesOfEntry) = (store.size, store.pagesOfEntry)
    // Free pages and a log are no reason to remove an entry.
    (left.size.freeBytes, left.size.walBytes) = (50_000, 1_000_000)
    let second = try RemovalPlan(enforcing: limits, on: left, among: Selection(), now: now)
    #expect(second.isEmpty && second.inUse == done.inUseAfter)
  }

  @Test func `a shared body file is freed with the last entry that names it`() {
    var space = SpaceInUse()
    let shares = [1, 2, 3].map { EntryShare(pages: 10, file: 500, sharedFile: $0 < 3 ? "A" : nil) }
    for share in shares { space.insert(share) }
    #expect((space.bytes, space.pages) == (1_030, 30))
    var some = SpaceInUse()
    some.insert(shares[0])
    var rest = space
    rest.remove(some)
    #expect(rest.bytes == 1_020)
    #expect(space.remove(shares[0]) == 10)
    #expect(space == rest)
    #expect(space.remove(shares[1]) == 510)
    #expect(space.remove(shares[2]) == 510)
    #expect(space == SpaceInUse())
  }

  @Test func `the largest entries are removed first on request`() throws {
    let answer = try removed {
      $0.bytes = 63_152
      $0.order = [.largest]
    }
    #expect(answer.reasons == ["row(10) over-size"])
  }

  @Test func `stale entries are removed first on request, then those without a lifetime`() throws {
    let headers: [String?] = ["max-age=9000", "max-age=1", "public", nil]
    var responses = store.responses
    for (index, header) in headers.enumerated() {
      responses[index].status = 200
      responses[index].responseHeaders = header.map {
        HeaderFields([.init(name: "Cache-Control", value: ByteString($0))])
      }
    }
    var stale = MemoryStore(Array(responses.prefix(4)))
    stale.size = store.size
    for (entries, expected) in [(3, [2]), (2, [2, 3]), (1, [1, 2, 3])] as [(Int64, [Int64])] {
      var limits = CacheLimits()
      (limits.entries, limits.order) = (entries, [.staleFirst])
      let plan = try RemovalPlan(
        enforcing: limits, on: stale, among: Selection(),
        now: #require(Timestamp(secondsSince1970: 5_000)))
      #expect(try plan.entries.ids == expected.map { .row($0) })
    }
  }

  @Test func `entries that are too old or too large are always removed`() throws {
    let answer = try removed {
      ($0.age, $0.entryBytes) = (8_000, 900)
    }
    #expect(answer.reasons == ["row(1) too-old", "row(10) too-large"])
    let kept = try removed {
      ($0.age, $0.bytes, $0.onlyIfOver) = (1, ByteCount(1 << 20), true)
    }
    #expect(kept.reasons == [])
  }

  @Test func `zero means zero, and a limit that cannot be met is reported`() throws {
    let answer = try removed { $0.entries = 0 }
    #expect(answer.reasons.count == 10)
    #expect(answer.isMet == true)
    #expect(try removed { $0.bytes = 0 }.isMet == false)
  }

  @Test func `removing all entries frees everything except an empty database`() throws {
    let whole = try removed { $0.bytes = 49_160 }
    #expect(whole.reasons.count == 10)
    #expect(whole.isMet == true)
    #expect(try removed { $0.bytes = 49_140 }.isMet == false)
    // The low mark is only a target: the limit is met even if the low mark is not reached.
    let low = try removed { ($0.bytes, $0.lowPercent) = (50_000, 50) }
    #expect(low.reasons.count == 10)
    #expect(low.isMet == true)
  }

  @Test func `a percentage of the largest numbers does not exceed them`() {
    var limits = CacheLimits()
    #expect(limits.low(Int64.max) == .max)
    #expect(limits.low(ByteCount.max) == .max)
    limits.lowPercent = 50
    #expect(limits.low(Int64.max) == 1 << 62)
    #expect(limits.low(1_001 as Int64) == 500)
    #expect(limits.low(1_001 as ByteCount) == 500)
  }
}

/// A store in memory that looks up responses by id, and records the lookups.
private final class NumberedStore: ResponseSource {
  let store: MemoryStore
  private(set) var projections: [Projection] = []

  init(store: MemoryStore) { self.store = store }

  var description: StoreDescription { store.description }

  func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    projections.append(projection)
    try store.scan(projection, body)
  }

  func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep
  ) throws {
    if let choosing = request.choosing { projections.append(choosing) }
    projections.append(request.projection)
    try store.scan(request, into: tally, body)
  }

  func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    projections.append(projection)
    try store.forEachResponse(of: ids, projection, body)
  }

  func response(_ id: StoredResponse.ID, _ projection: Projection) -> StoredResponse? {
    store.response(id, projection)
  }

  func count() -> Int64 { store.count() }

  func withBody(of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void) throws {
    try store.withBody(of: id, read)
  }

  func rawPropertyList(_ name: String, of id: StoredResponse.ID) -> [UInt8]? { nil }
  func footprint() -> Footprint { store.footprint() }
  func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) {}
  func finish() {}
}
