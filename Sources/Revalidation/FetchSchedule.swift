/// Schedules requests within limits: at once, per host, and per second.
public struct FetchSchedule: Sendable {
  private struct Host {
    let name: [UInt8]
    var pending: [Int] = []
    var next = 0
    var active = 0
    var isReady = false

    var hasPending: Bool { next < pending.count }

    mutating func removeFirst() -> Int {
      defer {
        next += 1
        // Drop used elements in batches, because each removal moves the rest of the array.
        if next == pending.count || next > 1_024 {
          pending.removeFirst(next)
          next = 0
        }
      }
      return pending[next]
    }
  }

  private let concurrency: Int
  private let perHost: Int
  private let millisecondsBetween: Int64
  /// The hosts with requests that have not finished.
  private var hosts: [Int: Host] = [:]
  private var places: [[UInt8]: Int] = [:]
  private var nextPlace = 0
  private var hostOf: [Int: Int] = [:]
  /// The hosts that may receive a request, in round-robin order.
  private var ready: [Int] = []
  private var firstReady = 0
  private var earliest: Int64 = .min

  /// The number of running requests.
  public private(set) var activeCount = 0

  /// The number of requests that have not started.
  public private(set) var pendingCount = 0

  /// Creates a schedule.
  ///
  /// - Parameters:
  ///   - concurrency: The maximum number of concurrent requests.
  ///   - perHost: The maximum number of concurrent requests to a host.
  ///   - millisecondsBetween: The minimum time between the starts of two requests.
  public init(concurrency: Int, perHost: Int = 2, millisecondsBetween: Int64 = 0) {
    self.concurrency = max(1, concurrency)
    self.perHost = max(1, perHost)
    self.millisecondsBetween = max(0, millisecondsBetween)
  }

  /// Whether all requests have finished.
  public var isDone: Bool { activeCount == 0 && pendingCount == 0 }

  /// Adds requests, by the numbers that the caller uses for them.
  ///
  /// Memory grows with the number of requests that have not finished.
  ///
  /// - Complexity: O(*n*), where *n* is the number of requests.
  public mutating func add(_ requests: some Sequence<(number: Int, host: [UInt8])>) {
    for (number, host) in requests {
      let place = place(of: host)
      hosts[place]?.pending.append(number)
      hostOf[number] = place
      pendingCount += 1
      makeReady(place)
    }
  }

  /// Returns the number of requests to a host that have not finished.
  func count(of host: [UInt8]) -> Int {
    guard let host = places[host].flatMap({ hosts[$0] }) else { return 0 }
    return host.pending.count - host.next + host.active
  }

  private mutating func place(of host: [UInt8]) -> Int {
    if let place = places[host] { return place }
    defer { nextPlace += 1 }
    places[host] = nextPlace
    hosts[nextPlace] = Host(name: host)
    return nextPlace
  }

  /// Starts the next request.
  ///
  /// - Parameter now: The time of a monotonic clock, in milliseconds.
  /// - Returns: The number of the request; `nil` if none may start now.
  public mutating func begin(at now: Int64) -> Int? {
    guard activeCount < concurrency, now >= earliest, firstReady < ready.count else { return nil }
    let place = ready[firstReady]
    firstReady += 1
    // Drop used elements in batches, because each removal moves the rest of the array.
    if firstReady == ready.count || firstReady > 1_024 {
      ready.removeFirst(firstReady)
      firstReady = 0
    }
    guard let number = hosts[place]?.removeFirst() else { return nil }
    hosts[place]?.active += 1
    // The host goes to the end of the queue. Otherwise one host with a thousand entries would keep
    // all others waiting.
    hosts[place]?.isReady = false
    makeReady(place)
    activeCount += 1
    pendingCount -= 1
    let (next, overflow) = now.addingReportingOverflow(millisecondsBetween)
    // The time between requests comes from the user, and a sum that overflowed would end the
    // process.
    earliest = overflow ? .max : next
    return number
  }

  /// Records that a request has finished.
  public mutating func end(_ number: Int) {
    guard let place = hostOf.removeValue(forKey: number) else { return }
    hosts[place]?.active -= 1
    activeCount -= 1
    makeReady(place)
    guard let host = hosts[place], host.active == 0, !host.hasPending else { return }
    hosts[place] = nil
    places[host.name] = nil
  }

  /// Returns how long to wait before the next request may start, in milliseconds; `nil` if it has to wait for another
  /// request to finish.
  public func delay(at now: Int64) -> Int64? {
    guard activeCount < concurrency, firstReady < ready.count else { return nil }
    return max(0, earliest - now)
  }

  private mutating func makeReady(_ place: Int) {
    guard let host = hosts[place], !host.isReady, host.hasPending, host.active < perHost else {
      return
    }
    hosts[place]?.isReady = true
    ready.append(place)
  }
}
