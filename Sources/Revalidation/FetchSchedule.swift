/// When which request is sent: so many at once, so many to a host, and so many in a second.
public struct FetchSchedule: Sendable {
  private struct Host {
    var pending: [Int] = []
    var next = 0
    var active = 0
    var isReady = true

    var hasPending: Bool { next < pending.count }
  }

  private let concurrency: Int
  private let perHost: Int
  private let millisecondsBetween: Int64
  private var hosts: [Host] = []
  private var hostOf: [Int: Int] = [:]
  /// The hosts that may be asked, in their turn.
  private var ready: [Int] = []
  private var firstReady = 0
  private var earliest: Int64 = .min

  /// The number of requests that are under way.
  public private(set) var activeCount = 0

  /// The number of requests that were not yet begun.
  public private(set) var pendingCount = 0

  /// Creates a schedule.
  ///
  /// - Parameters:
  ///   - concurrency: The most requests at once.
  ///   - perHost: The most requests to a host at once.
  ///   - millisecondsBetween: The least time between the beginnings of two requests.
  public init(concurrency: Int, perHost: Int = 2, millisecondsBetween: Int64 = 0) {
    self.concurrency = max(1, concurrency)
    self.perHost = max(1, perHost)
    self.millisecondsBetween = max(0, millisecondsBetween)
  }

  /// Whether all requests have ended.
  public var isDone: Bool { activeCount == 0 && pendingCount == 0 }

  /// Takes requests in, by the numbers that the caller knows them by.
  ///
  /// - Complexity: O(*n*), where *n* is their number.
  public mutating func add(_ requests: some Sequence<(number: Int, host: [UInt8])>) {
    var places: [[UInt8]: Int] = [:]
    for (number, host) in requests {
      let place = places[host] ?? hosts.count
      if place == hosts.count {
        places[host] = place
        hosts.append(Host())
        ready.append(place)
      }
      hosts[place].pending.append(number)
      hostOf[number] = place
      pendingCount += 1
    }
  }

  /// Begins the next request.
  ///
  /// - Parameter now: Milliseconds of a clock that only goes on.
  /// - Returns: Its number; `nil` if none may begin now.
  public mutating func begin(at now: Int64) -> Int? {
    guard activeCount < concurrency, now >= earliest, firstReady < ready.count else { return nil }
    let place = ready[firstReady]
    firstReady += 1
    if firstReady == ready.count || firstReady > 1_024 {
      ready.removeFirst(firstReady)
      firstReady = 0
    }
    let number = hosts[place].pending[hosts[place].next]
    hosts[place].next += 1
    hosts[place].active += 1
    hosts[place].isReady = false
    makeReady(place)
    activeCount += 1
    pendingCount -= 1
    let (next, overflow) = now.addingReportingOverflow(millisecondsBetween)
    earliest = overflow ? .max : next
    return number
  }

  /// Takes note that a request has ended.
  public mutating func end(_ number: Int) {
    guard let place = hostOf.removeValue(forKey: number) else { return }
    hosts[place].active -= 1
    activeCount -= 1
    makeReady(place)
  }

  /// How long nothing begins although something could, in milliseconds; `nil` if it waits for the end of
  /// another.
  public func delay(at now: Int64) -> Int64? {
    guard activeCount < concurrency, firstReady < ready.count else { return nil }
    return max(0, earliest - now)
  }

  private mutating func makeReady(_ place: Int) {
    guard !hosts[place].isReady, hosts[place].hasPending, hosts[place].active < perHost else {
      return
    }
    hosts[place].isReady = true
    ready.append(place)
  }
}
