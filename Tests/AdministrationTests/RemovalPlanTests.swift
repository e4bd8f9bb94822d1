import Administration
import ResponseStorage
import TestSupport
import Testing

@Suite struct RemovalPlanTests {
  private let now = Timestamp(secondsSince1970: 1_700_000_000)

  @Test func `a plan holds what is selected and counts what stays`() throws {
    var selection = Selection()
    selection.largerThan = 100
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(plan.entries.map(\.version.id) == [.row(2), .row(3)])
    #expect((plan.storedEntries, plan.keptEntries) == (4, 2))
    #expect((plan.bodyBytes, plan.returnedBytes) == (700, 500))
    #expect(plan.entries.map(\.version.key) == ["https://a.example/2", "https://a.example/3"])
  }

  @Test func `names that no entry has are told of, and entries of unknown age are counted`() throws
  {
    var selection = Selection()
    selection.names = EntryNames([.url("https://a.example/2"), .id(.row(9)), .id(.row(4))])
    selection.before = now
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(plan.entries.map(\.version.id) == [.row(2)])
    #expect(plan.absent.names == [.id(.row(9))])
    #expect(plan.unknownTimes == 1)
  }

  @Test(arguments: [
    (RemovalLimit.entries(2), false), (.entries(1), true), (.percent(50), false),
    (.percent(49.9), true), (.percent(0), true),
  ])
  func `a limit is exceeded by more than it allows`(limit: RemovalLimit, exceeds: Bool) throws {
    var selection = Selection()
    selection.largerThan = 100
    let plan = try RemovalPlan(removing: selection, from: store, now: #require(now))
    #expect(plan.exceeds(limit) == exceeds)
  }

  @Test func `what was skipped or not visited is left out afterwards`() throws {
    var plan = try RemovalPlan(removing: Selection(), from: store, now: #require(now))
    var removal = Removal()
    removal.visited = 3
    removal.skipped = [.row(2)]
    plan.leaveOut(removal)
    #expect(plan.entries.map(\.version.id) == [.row(1), .row(3)])
    #expect(plan.keptEntries == 2)
  }

  @Test func `near misses have the same path and another query`() throws {
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

  /// Four entries: of 100, 200 and 500 bytes, the last of these in a file, and without a body or a time.
  private let store = MemoryStore(
    [100, 200, 500, nil].enumerated().map { index, size in
      var response = StoredResponse(id: .row(Int64(index + 1)))
      response.url = ByteString("https://a.example/\(index + 1)")
      response.key = response.url
      response.bodySize = size.map { Int64($0) }
      response.bodyLocation = size == 500 ? .file : size == nil ? .missing : .inline
      response.stored = size == nil ? nil : Timestamp(secondsSince1970: 1_600_000_000)
      return response
    })
}
