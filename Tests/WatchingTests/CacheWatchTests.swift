import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing
import Watching

private let now = Timestamp(nanosecondsSince1970: 1_800_000_000_000_000_000)

/// An entry whose key is its URL, stored some seconds ago.
private func entry(
  _ row: Int64, _ path: String, size: Int64 = 10, secondsAgo: Double = 0
) -> StoredResponse {
  var response = StoredResponse(id: .row(row))
  response.key = ByteString("https://a.example/\(path)")
  response.url = response.key
  response.stored = Timestamp(secondsSince1970: now.secondsSince1970 - secondsAgo)
  response.bodySize = ByteCount(size)
  response.bodyLocation = .inline
  response.responseHeaders = HeaderFields([])
  return response
}

private func store(_ entries: [StoredResponse], ever: Int64? = nil) -> MemoryStore {
  var store = MemoryStore(entries)
  store.everStored = ever
  return store
}

/// A change in few words: `added 1`, `replaced 1->2`, `removed 1 a`.
private func words(_ change: EntryChange) -> String {
  func number(_ id: StoredResponse.ID?) -> String {
    if case .row(let row) = id { "\(row)" } else { "" }
  }
  let previous = change.previousID.map { number($0) + "->" } ?? ""
  return "\(change.kind.rawValue) \(previous)\(number(change.id))"
}

private func changes(
  of watch: inout CacheWatch, at store: MemoryStore?
) throws -> [String] {
  var found: [String] = []
  try watch.look(at: store, now: now) { found.append(words($0)) }
  return found
}

private func watch(
  _ store: MemoryStore, selecting selection: Selection = Selection(), awaited: Selection? = nil
) throws -> CacheWatch {
  var watch = try CacheWatch(selection, awaited: awaited, showing: [])
  try watch.begin(at: store, now: now)
  return watch
}

@Suite struct CacheWatchTests {
  @Test func `entries that are there at the beginning are no changes`() throws {
    let store = store([entry(1, "a")])
    var watch = try watch(store)
    #expect(try changes(of: &watch, at: store) == [])
    #expect(watch.entryCount == 1)
  }

  @Test func `entries are added, replaced in place, and removed`() throws {
    var watch = try watch(store([entry(1, "a", secondsAgo: 9), entry(2, "b"), entry(3, "c")]))
    let later = store([entry(1, "a", size: 30), entry(3, "c"), entry(4, "d", size: 5)])
    #expect(
      try changes(of: &watch, at: later) == ["removed 2", "replaced 1->1", "added 4"])
    #expect(watch.tally.storedBytes == 35)
    #expect(watch.tally.removedBytes == 10)
    #expect(try changes(of: &watch, at: later) == [])
  }

  @Test func `an entry that comes back with another id was replaced`() throws {
    var watch = try watch(store([entry(1, "a"), entry(2, "b")]))
    #expect(
      try changes(of: &watch, at: store([entry(2, "b"), entry(3, "a")])) == ["replaced 1->3"])
  }

  @Test func `another database with the same ids has other entries`() throws {
    var watch = try watch(store([entry(1, "a"), entry(2, "b")]))
    #expect(
      try changes(of: &watch, at: store([entry(1, "b"), entry(2, "c")]))
        == ["removed 1", "replaced 2->1", "added 2"])
  }

  @Test func `a cache that is gone has lost all entries`() throws {
    var watch = try watch(store([entry(1, "a"), entry(2, "b")]))
    #expect(try changes(of: &watch, at: nil) == ["removed 1", "removed 2"])
    #expect(watch.entryCount == 0)
    watch.beginWithNothing()
    #expect(try changes(of: &watch, at: store([entry(1, "a")], ever: 1)) == ["added 1"])
    #expect(watch.tally.missed == 0)
  }

  @Test func `the cache counts entries that no look has seen`() throws {
    var watch = try watch(store([entry(1, "a")], ever: 1))
    #expect(
      try changes(of: &watch, at: store([entry(1, "a"), entry(5, "b")], ever: 6)) == ["added 5"])
    #expect(watch.tally.missed == 4)
    watch.restart()
    #expect(try changes(of: &watch, at: store([entry(1, "a")], ever: 1)) == ["removed 5"])
    #expect(watch.tally.missed == 4)
  }

  @Test func `new ids are found without looking at all entries`() throws {
    var watch = try watch(store([entry(1, "a"), entry(2, "b")], ever: 2))
    var found: [String] = []
    let later = store([entry(2, "b"), entry(4, "c")], ever: 4)
    #expect(try watch.lookAtNewIDs(of: later, now: now) { found.append(words($0)) })
    #expect(found == ["added 4"])
    #expect(watch.tally.missed == 1)
    // The removed entry is found by the next look at all entries, and the added one only once.
    #expect(try changes(of: &watch, at: later) == ["removed 1"])
    #expect(watch.tally.missed == 1)
  }

  @Test func `an entry that comes back with a new id was replaced, however it is found`() throws {
    var watch = try watch(store([entry(1, "a"), entry(2, "b")], ever: 2))
    var found: [String] = []
    let later = store([entry(2, "b"), entry(3, "a")], ever: 3)
    #expect(try watch.lookAtNewIDs(of: later, now: now) { found.append(words($0)) })
    #expect(found == ["replaced 1->3"])
    #expect(try changes(of: &watch, at: later) == [])
  }

  @Test func `new ids are not looked up in a cache that does not count, or counts absurdly`() throws
  {
    for ever in [nil, -1, Int64.max] {
      var watch = try watch(store([entry(1, "a")], ever: ever == nil ? nil : 1))
      #expect(try !watch.lookAtNewIDs(of: store([], ever: ever), now: now) { _ in })
    }
  }

  @Test(arguments: [false, true])
  func `of many entries, those that differ are found`(hasFiles: Bool) throws {
    func entries(_ numbers: some Sequence<Int64>, secondsAgo: Double) -> [StoredResponse] {
      numbers.map { number in
        var response = entry(number, "\(number)", size: number, secondsAgo: secondsAgo)
        if hasFiles { response.id = .file(ByteString("\(number + 100_000)")) }
        return response
      }
    }
    let same = entries(1...4_000, secondsAgo: 9)
    var watch = try watch(store(same + entries(4_001...6_000, secondsAgo: 9)))
    let later = same + entries(5_001...7_000, secondsAgo: 1)
    for expected in [(1_000, 1_000, 1_000), (0, 0, 0)] {
      var found: [EntryChange.Kind: [Int64]] = [:]
      try watch.look(at: store(later), now: now) { change in
        found[change.kind, default: []].append(change.size?.bytes ?? 0)
        #expect(change.url == ByteString("https://a.example/\(change.size?.bytes ?? 0)"))
      }
      #expect(found[.removed] ?? [] == Array((4_001...5_000).prefix(expected.0)))
      #expect(found[.replaced] ?? [] == Array((5_001...6_000).prefix(expected.1)))
      #expect(found[.added] ?? [] == Array((6_001...7_000).prefix(expected.2)))
      #expect(watch.entryCount == 6_000)
    }
  }

  @Test func `only selected entries are changes`() throws {
    var selection = Selection()
    selection.conditions = [try Condition("size > 20")]
    var watch = try watch(
      store([entry(1, "a", size: 30), entry(2, "b", size: 1)]), selecting: selection)
    let later = store([entry(3, "c", size: 40), entry(4, "d", size: 2)])
    #expect(try changes(of: &watch, at: later) == ["removed 1", "added 3"])
    #expect(watch.entryCount == 2)
  }

  @Test func `the awaited entry is recognized when it is stored`() throws {
    var awaited = Selection()
    awaited.conditions = [try Condition("path = \"/b\"")]
    var watch = try watch(store([entry(1, "a")]), awaited: awaited)
    var found: [Bool] = []
    try watch.look(at: store([entry(1, "a"), entry(2, "b"), entry(3, "c")]), now: now) {
      found.append($0.isAwaited)
    }
    #expect(found == [true, false])
  }

  @Test func `hosts and freshness are counted`() throws {
    var watch = try watch(store([]))
    _ = try changes(of: &watch, at: store([entry(1, "a", size: 3), entry(2, "b", size: 4)]))
    let hosts = watch.tally.busiestHosts(9)
    #expect(hosts.map(\.host) == ["a.example"])
    #expect(hosts.first?.entries == 2)
    #expect(hosts.first?.bytes == 7)
    #expect(watch.tally.freshness == [.noLifetime: 2])
  }

  @Test func `arrivals that no change explains were not seen`() throws {
    var watch = try watch(store([]))
    _ = try changes(of: &watch, at: store([entry(1, "a")]))
    watch.noteArrivals(1)
    #expect(watch.tally.missed == 0)
    watch.noteArrivals(3)
    watch.noteArrivals(3)
    #expect(watch.tally.missed == 2)
  }
}

@Suite struct ChangeRateTests {
  @Test func `only the last seconds count`() {
    var rate = ChangeRate()
    rate.insert(5, atMilliseconds: 1_000)
    rate.insert(2, atMilliseconds: 1_500)
    rate.insert(1, atMilliseconds: 9_000)
    #expect(rate.changes(atMilliseconds: 9_999) == 8)
    #expect(rate.changes(atMilliseconds: 11_000) == 1)
    #expect(rate.changes(atMilliseconds: 30_000) == 0)
  }

  @Test func `a lowered counter does not make known entries new`() throws {
    let entries = [entry(1, "a"), entry(2, "b"), entry(3, "c")]
    var watch = try watch(store(entries, ever: 3))
    _ = try changes(of: &watch, at: store(entries, ever: 1))
    var found: [String] = []
    let later = store(entries + [entry(4, "d")], ever: 4)
    let wasPossible = try watch.lookAtNewIDs(of: later, now: now) { found.append(words($0)) }
    #expect(!wasPossible)
    #expect(found == [])
    #expect(try changes(of: &watch, at: later) == ["added 4"])
    #expect(watch.entryCount == 4)
  }
}
