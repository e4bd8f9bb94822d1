#if canImport(Darwin)
  import Darwin
  import Synchronization

  /// The signals that were sent to the process while they were blocked.
  ///
  /// On Linux, `sigpending` tells each thread of them. On macOS, it tells only the thread to which the kernel has assigned
  /// the signal, which is the first one if all block it: a thread that reads or copies meanwhile would never hear of
  /// it. An event queue of the kernel (`EVFILT_SIGNAL`) records what is sent to the process, whether or not it is blocked.
  enum SentSignals {
    /// The signals that were sent, each as one bit.
    // None is removed: a noted signal is blocked until it ends the process.
    private static let sent = Atomic<UInt32>(0)

    /// The descriptor of the event queue; -1 if there is none, and `sigpending` has to do.
    private static let queue: Int32 = {
      let queue = kqueue()
      if queue >= 0 { _ = fcntl(queue, F_SETFD, FD_CLOEXEC) }
      return queue
    }()

    /// Begins to note signals, which must not be blocked yet.
    static func note(_ numbers: [Int32]) {
      for number in numbers {
        var change = unsafe event(of: number)
        _ = unsafe kevent(queue, &change, 1, nil, 0, nil)
      }
    }

    /// Whether one of these signals was sent.
    static func have(_ numbers: [Int32]) -> Bool {
      var (next, now) = unsafe (event(of: 0), timespec())
      while unsafe kevent(queue, nil, 0, &next, 1, &now) == 1 {
        sent.bitwiseOr(1 << UInt32(unsafe next.ident), ordering: .relaxed)
      }
      let bits = sent.load(ordering: .relaxed)
      return numbers.contains { bits & 1 << UInt32($0) != 0 }
    }

    private static func event(of number: Int32) -> Darwin.kevent {
      // With EV_CLEAR, it is reported once.
      unsafe Darwin.kevent(
        ident: UInt(number), filter: Int16(EVFILT_SIGNAL), flags: UInt16(EV_ADD | EV_CLEAR),
        fflags: 0, data: 0, udata: nil)
    }
  }
#endif
