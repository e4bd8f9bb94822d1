#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Blocks the signals with which a user ends a process, until temporary data is removed.
///
/// They are delivered when this value is destroyed, or the last of several. A signal that would not end the process,
/// because it was ignored or blocked when the process began, is left alone.
public struct HeldSignals: ~Copyable {
  // These are what a closed terminal, Control-C and a service manager send. SIGQUIT stays as it is,
  // as a user sends it to get a core dump.
  static let numbers = [SIGHUP, SIGINT, SIGTERM]

  private let held: sigset_t
  private let before: sigset_t

  /// The signals that would end the process if they were not blocked.
  private static let ending: [Int32] = {
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &before)
    return numbers.filter { unsafe !isIgnored($0) && sigismember(&before, $0) == 0 }
  }()

  /// Whether a blocked signal is pending, so that the process should stop its work.
  ///
  /// Code that reads or copies much data checks this regularly, as it cannot know whether signals are blocked.
  /// A signal that is not blocked ends the process at once.
  public static var areWaiting: Bool { isPending(ending) }

  /// The signal by which another process is asked to end, and the one that it cannot hold.
  public static var endingSignal: Int32 { SIGTERM }
  public static var killingSignal: Int32 { SIGKILL }

  /// Whether any of the signals is blocked in this process.
  static var areHeld: Bool {
    var blocked = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
    return ending.contains { unsafe sigismember(&blocked, $0) == 1 }
  }

  /// Blocks the signals.
  public init() {
    var (held, before) = (sigset_t(), sigset_t())
    #if canImport(Darwin)
      // Before they are blocked: one that comes in between ends the process.
      SentSignals.note(Self.ending)
    #endif
    unsafe sigemptyset(&held)
    // A signal that was blocked from the beginning would stay pending, and every check would stop the work.
    for number in Self.ending { unsafe sigaddset(&held, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
    (self.held, self.before) = (held, before)
  }

  /// Whether one of the signals is pending, so that the process should stop its work.
  public var haveCome: Bool {
    var held = held
    return Self.isPending(Self.numbers.filter { unsafe sigismember(&held, $0) == 1 })
  }

  /// Whether one of these blocked signals is pending, for the process or for the calling thread.
  private static func isPending(_ numbers: [Int32]) -> Bool {
    var pending = sigset_t()
    unsafe sigpending(&pending)
    if numbers.contains(where: { unsafe sigismember(&pending, $0) == 1 }) { return true }
    #if canImport(Darwin)
      return SentSignals.have(numbers)
    #else
      return false
    #endif
  }

  deinit {
    var before = before
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    #if canImport(Darwin)
      return unsafe unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self) == 1
    #elseif canImport(Musl)
      return unsafe unsafeBitCast(action.__sa_handler.sa_handler, to: Int.self) == 1
    #else
      return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    #endif
  }
}
