import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A state that several threads share, with exclusive access and waiting for changes.
///
/// It uses a mutex and a condition variable of POSIX threads, which ThreadSanitizer supports on every system.
/// On Linux, it does not recognize the `Mutex` of the standard library as a lock.
@safe
public final class Monitor<State: Sendable>: @unchecked Sendable {
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// Creates a monitor of a state.
  public init(_ state: State) {
    self.state = state
    let (mutexCode, changeCode) = unsafe (
      pthread_mutex_init(mutex, nil), pthread_cond_init(change, nil)
    )
    precondition(mutexCode == 0 && changeCode == 0, "out of memory for a lock")
  }

  deinit {
    unsafe pthread_cond_destroy(change)
    unsafe pthread_mutex_destroy(mutex)
    unsafe change.deallocate()
    unsafe mutex.deallocate()
  }

  /// Changes the state, and wakes all waiting threads.
  public func update(_ body: (inout State) -> Void) {
    unsafe pthread_mutex_lock(mutex)
    body(&state)
    // Not before: the woken threads would only wait for the lock.
    unsafe pthread_mutex_unlock(mutex)
    // Not `pthread_cond_signal`: threads wait for different states, and the one woken might be one
    // for which nothing has changed.
    unsafe pthread_cond_broadcast(change)
  }

  /// Waits until `isReady` returns `true`, changes the state, and wakes all waiting threads.
  public func update<Result>(
    when isReady: (borrowing State) -> Bool, _ body: (inout State) -> Result
  ) -> Result {
    unsafe pthread_mutex_lock(mutex)
    while !isReady(state) { unsafe pthread_cond_wait(change, mutex) }
    let result = body(&state)
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_broadcast(change)
    return result
  }

  /// Calls `body` with the state, without waking other threads.
  public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Waits until `isReady` returns `true`, and then calls `body` with the state.
  public func wait<Result>(
    until isReady: (borrowing State) -> Bool, _ body: (inout State) -> Result
  ) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    // In a loop, as POSIX lets a thread wake up without a reason.
    while !isReady(state) { unsafe pthread_cond_wait(change, mutex) }
    return body(&state)
  }
}

/// A queue through which one thread sends values to another, which waits for them.
public final class Channel<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  private let monitor = Monitor(State())

  /// Creates an empty channel.
  public init() {}

  /// Sends a value; does nothing if the channel is closed.
  public func send(_ element: Element) {
    monitor.update { state in
      // A consumer that has found what it needs closes the channel, and its producers may still be
      // at work.
      if !state.isClosed { state.elements.append(element) }
    }
  }

  /// Closes the channel. Values sent before can still be received.
  public func close() {
    monitor.update { $0.isClosed = true }
  }

  /// Closes the channel, and drops the values that were not received.
  public func cancel() {
    monitor.update { $0 = State(isClosed: true) }
  }

  /// Returns the next value, if there is one already.
  public func receiveNow() -> Element? {
    monitor.withLock { $0.elements.isEmpty ? nil : $0.elements.removeFirst() }
  }

  /// Waits for the next value; `nil` if the channel is closed and empty.
  public func receive() -> Element? {
    monitor.wait(until: { !$0.elements.isEmpty || $0.isClosed }) { state in
      state.elements.isEmpty ? nil : state.elements.removeFirst()
    }
  }
}

/// The number of entries, or other pieces of work, that this process has worked on so far.
///
/// Code that works on many pieces counts them here, as it cannot know whether progress is shown. Progress is the
/// difference between two values. Counting costs a few nanoseconds, on any thread.
public enum WorkCounter {
  private static let count = Atomic<Int64>(0)

  /// The current value.
  public static var value: Int64 { count.load(ordering: .relaxed) }

  /// Counts pieces of work.
  @inline(__always)
  public static func add(_ pieces: Int64 = 1) {
    count.wrappingAdd(pieces, ordering: .relaxed)
  }
}
