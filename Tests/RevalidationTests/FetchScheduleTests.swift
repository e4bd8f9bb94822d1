import Revalidation
import Testing

@Suite struct FetchScheduleTests {
  private static func hosts(_ names: String...) -> [(number: Int, host: [UInt8])] {
    names.enumerated().map { ($0.offset, Array($0.element.utf8)) }
  }

  /// Starts every request that may start.
  private static func begun(_ schedule: inout FetchSchedule, at now: Int64 = 0) -> [Int] {
    var numbers: [Int] = []
    while let number = schedule.begin(at: now) { numbers.append(number) }
    return numbers
  }

  @Test func `a host has at most two requests and does not delay others`() {
    var schedule = FetchSchedule(concurrency: 4)
    schedule.add(Self.hosts("a", "a", "a", "a", "b", "a"))
    #expect(Self.begun(&schedule) == [0, 4, 1])
    #expect(schedule.delay(at: 0) == nil)
    schedule.end(4)
    #expect(Self.begun(&schedule) == [])
    schedule.end(1)
    #expect(Self.begun(&schedule) == [2])
    schedule.end(0)
    schedule.end(2)
    #expect(Self.begun(&schedule) == [3, 5])
    #expect(!schedule.isDone)
    schedule.end(3)
    schedule.end(5)
    #expect(schedule.isDone)
  }

  @Test func `the number of concurrent requests is limited`() {
    var schedule = FetchSchedule(concurrency: 3)
    schedule.add(Self.hosts("a", "b", "c", "d", "e"))
    #expect(Self.begun(&schedule) == [0, 1, 2])
    schedule.end(1)
    schedule.end(1)
    #expect(Self.begun(&schedule) == [3])
    #expect(schedule.activeCount == 3)
    #expect(schedule.pendingCount == 1)
  }

  @Test func `a rate spaces requests`() {
    var schedule = FetchSchedule(concurrency: 4, millisecondsBetween: 100)
    schedule.add(Self.hosts("a", "b", "c"))
    #expect(Self.begun(&schedule, at: 1_000) == [0])
    #expect(schedule.delay(at: 1_030) == 70)
    #expect(Self.begun(&schedule, at: 1_099) == [])
    #expect(Self.begun(&schedule, at: 1_100) == [1])
    #expect(schedule.delay(at: 5_000) == 0)
  }

  @Test func `every request starts once within the limits, in any order of completion`() {
    for seed in 0..<50 as Range<UInt64> {
      var state = seed
      func random(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
      }
      let hosts = (0..<200).map { (number: $0, host: [UInt8(random(5))]) }
      var schedule = FetchSchedule(concurrency: 1 + random(8))
      // Some are added while others run, when their hosts may have none left.
      var added = 0
      var (active, seen): ([Int], Set<Int>) = ([], [])
      while !schedule.isDone || added < hosts.count {
        if schedule.pendingCount == 0 || random(3) == 0 {
          let end = min(hosts.count, added + 1 + random(20))
          schedule.add(hosts[added..<end])
          added = end
        }
        for number in Self.begun(&schedule) {
          #expect(seen.insert(number).inserted, "seed \(seed)")
          active.append(number)
        }
        for host in 0..<5 { #expect(active.count { hosts[$0].host == [UInt8(host)] } <= 2) }
        schedule.end(active.remove(at: random(active.count)))
      }
      #expect(seen.count == 200, "seed \(seed)")
    }
  }
}
