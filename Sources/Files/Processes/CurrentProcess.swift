import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
  import MachO.dyld
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// This process: its environment, its program, and its end.
public enum CurrentProcess {
  /// Returns an environment variable, or `nil` if it is not set or not UTF-8.
  public static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// The home folder of this user in the database of users; `nil` if there is none.
  public static var homeFolder: String? { UserRecord(geteuid())?.home }

  /// Whether this is the superuser.
  public static var isRoot: Bool { geteuid() == 0 }

  /// The number of this user.
  public static var user: UInt32 { geteuid() }

  /// All environment variables, as `NAME=value`; without those that are not UTF-8.
  public static var variables: [String] {
    var variables: [String] = []
    var index = 0
    while let text = unsafe environ[index] {
      if let text = unsafe String(validatingCString: text) { variables.append(text) }
      index += 1
    }
    return variables
  }

  /// Sets an environment variable. Call it only while there is one thread.
  public static func set(_ name: String, to value: String) {
    _ = unsafe setenv(name, value, 1)
  }

  /// The process id.
  public static var number: Int32 { getpid() }

  /// The path of the running program without symbolic links; `nil` if the system does not provide it.
  public static var programPath: String? {
    #if canImport(Darwin)
      var size = UInt32(4_096)
      var buffer = [CChar](repeating: 0, count: Int(size))
      guard unsafe _NSGetExecutablePath(&buffer, &size) == 0,
        let resolved = unsafe realpath(buffer, nil)
      else { return nil }
    #else
      // `argv[0]` is whatever the caller chose, and must not decide which program is started next
      // to this one.
      guard let resolved = unsafe realpath("/proc/self/exe", nil) else { return nil }
    #endif
    defer { unsafe free(resolved) }
    return unsafe String(validatingCString: resolved)
  }

  /// Pauses the current thread; a signal can end the pause early.
  public static func sleep(milliseconds: Int) {
    var time = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
    unsafe nanosleep(&time, nil)
  }

  /// Makes writing to a pipe without a reader, or beyond the file size limit (`RLIMIT_FSIZE`), an error instead
  /// of the end of the process.
  public static func ignoreSignalsOfWriting() {
    // The default action of both is to end the process, without a rollback and without a message.
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Ends the process.
  public static func end(with status: Int32) -> Never {
    exit(status)
  }
}

/// What the database of users says about a user.
public struct UserRecord: Sendable {
  /// The number of the user.
  public let user: UInt32
  /// The number of the user's group.
  public let group: UInt32
  /// The home folder.
  public let home: String

  /// The group of users that are in no group.
  public static var groupOfNobody: UInt32 {
    #if canImport(Darwin)
      UInt32(bitPattern: -2)
    #else
      65_534
    #endif
  }

  /// Looks a user up; `nil` if the database does not have it. The corresponding C function is `getpwuid_r`.
  public init?(_ user: UInt32) {
    var (record, buffer) = unsafe (passwd(), [CChar](repeating: 0, count: 1 << 16))
    let facts: (group: UInt32, home: String)? = unsafe buffer.withUnsafeMutableBufferPointer {
      buffer in
      var found: UnsafeMutablePointer<passwd>?
      guard let start = buffer.baseAddress,
        unsafe getpwuid_r(user, &record, start, buffer.count, &found) == 0,
        let found = unsafe found,
        let home = unsafe found.pointee.pw_dir
      else { return nil }
      return unsafe (found.pointee.pw_gid, String(cString: home))
    }
    guard let facts else { return nil }
    (self.user, group, home) = (user, facts.group, facts.home)
  }
}

/// The number of processors that threads can run on, at least 1.
public var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

/// A separate thread for work that may block.
public enum BackgroundThread {
  /// Starts `work` without reporting its end.
  ///
  /// - Parameter name: The name of the thread, for debuggers.
  public static func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    // A private serial queue has its own thread as long as it has work.
    DispatchQueue(label: name).async(execute: work)
  }

  /// Returns the results of `work` for the numbers from 0, when all have ended.
  ///
  /// As many run at the same time as there are processors; the thread of the caller takes part.
  ///
  /// - Throws: The error of the smallest number that has one.
  public static func map<Result: Sendable, Failure: Error>(
    _ count: Int, _ work: @Sendable (Int) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    let results = Mutex<[Int: Swift.Result<Result, Failure>]>([:])
    DispatchQueue.concurrentPerform(iterations: count) { number in
      let result: Swift.Result<Result, Failure>
      do throws(Failure) { result = .success(try work(number)) } catch { result = .failure(error) }
      results.withLock { $0[number] = result }
    }
    var values: [Result] = []
    for (_, result) in results.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      values.append(try result.get())
    }
    return values
  }
}
