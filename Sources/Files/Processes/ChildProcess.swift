#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A child process with which this process communicates through two pipes.
///
/// It is killed and reaped when its owner is destroyed. If this process ends otherwise, the child reads the
/// end of its input, or ends with it if it is separate (``Privileges/separate()``).
public struct ChildProcess: ~Copyable {
  private let number: pid_t
  private let input: Int32
  private let output: Int32
  private let path: String
  private var isReaped = false

  /// How a process has ended.
  public enum End: Hashable, Sendable {
    /// By itself, with a status.
    case exit(Int32)
    /// By a signal.
    case signal(Int32)
  }

  /// What a program is started with that has nothing of this process but two pipes.
  public struct Separation: Sendable {
    /// The arguments, without the name of the program.
    public let arguments: [String]
    /// The environment, as `NAME=value`.
    public let variables: [String]

    /// Creates it.
    public init(arguments: [String], variables: [String]) {
      (self.arguments, self.variables) = (arguments, variables)
    }
  }

  /// Starts the program at a path, without arguments. It inherits standard error.
  public init(_ path: String) throws(FileError) {
    try self.init(path, nil)
  }

  /// Starts this program.
  public init(ofThisProgram separation: Separation) throws(FileError) {
    #if canImport(Darwin)
      guard let path = CurrentProcess.programPath else { throw FileError(ENOENT, at: "") }
    #else
      // The file itself: its name may belong to a newer version by now.
      let path = "/proc/self/exe"
    #endif
    try self.init(path, separation)
  }

  private init(_ path: String, _ separation: Separation?) throws(FileError) {
    let (readable, input) = try Self.pipe(path)
    let output: Int32
    let writable: Int32
    do throws(FileError) { (output, writable) = try Self.pipe(path) } catch {
      close(readable)
      close(input)
      throw error
    }
    let started = Self.start(path, separation, input: readable, output: writable)
    close(readable)
    close(writable)
    guard started.failure == 0 else {
      close(input)
      close(output)
      throw FileError(started.failure, at: path)
    }
    number = started.number
    self.path = path
    self.input = input
    self.output = output
  }

  deinit {
    close(input)
    close(output)
    // Another process may have its number by now.
    if isReaped { return }
    // The program has nothing to save. Waiting for it without killing it could last as long as a
    // time-out of a request.
    kill(number, SIGKILL)
    var status: Int32 = 0
    // A process that waits for a file system of a user does not end before that answers. This process does not wait for it.
    for _ in 0..<Self.mostRounds {
      let reaped = unsafe waitpid(number, &status, WNOHANG)
      if reaped == number || reaped < 0 && errno != EINTR { return }
      CurrentProcess.sleep(milliseconds: Self.millisecondsOfRound)
    }
  }

  private static let (mostRounds, millisecondsOfRound) = (2_000, 1)

  /// Sends a signal to the process.
  public borrowing func send(_ signal: Int32) { _ = kill(number, signal) }

  /// Returns how the process has ended, and waits for that a little if its output has ended; `nil` if it does not end.
  public mutating func end() -> End? {
    var status: Int32 = 0
    for _ in 0..<Self.mostRounds {
      let reaped = unsafe waitpid(number, &status, WNOHANG)
      if reaped == number {
        isReaped = true
        // As `WIFEXITED`, `WEXITSTATUS` and `WTERMSIG` read it on all systems.
        return status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
      }
      if reaped < 0, errno != EINTR { return nil }
      CurrentProcess.sleep(milliseconds: Self.millisecondsOfRound)
    }
    return nil
  }

  /// Writes to the standard input of the program.
  public borrowing func write(_ bytes: [UInt8]) throws(FileError) {
    try writeAll(bytes[...], to: input, path: path)
  }

  /// Reads output of the program into the start of `buffer`, as soon as there is any.
  ///
  /// - Returns: The number of bytes, which is 0 at the end; `nil` if there was no output in time.
  public borrowing func read(
    into buffer: inout [UInt8], milliseconds: Int32
  ) throws(FileError) -> Int? {
    var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    let ready = unsafe poll(&request, 1, milliseconds)
    if ready == 0 || ready < 0 && errno == EINTR { return nil }
    guard ready > 0 else { throw .last(at: path) }
    return try readSome(from: output, into: &buffer, path: path)
  }

  /// Whether a signal has ended the program, such as the one of a trap.
  ///
  /// Waits for the end of the process, so call it after the end of its output.
  public borrowing func hasBeenKilled() -> Bool {
    var info = unsafe siginfo_t()
    // Do not reap it yet: until `deinit` kills it, no other process may get its id.
    while unsafe waitid(P_PID, id_t(number), &info, WEXITED | WNOWAIT) < 0 {
      guard errno == EINTR else { return false }
    }
    let code = unsafe Int(info.si_code)
    return code == Int(CLD_KILLED) || code == Int(CLD_DUMPED)
  }

  private static func pipe(_ path: String) throws(FileError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard openPipe(&ends) == 0 else { throw .last(at: path) }
    // Another child that inherited the writing end would keep the reader from ever reaching the end.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Starts a program with default signals: this process may ignore some and block others.
  private static func start(
    _ path: String, _ separation: Separation?, input: Int32, output: Int32
  ) -> (number: pid_t, failure: Int32) {
    #if canImport(Darwin)
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
      let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
      let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // With POSIX_SPAWN_CLOEXEC_DEFAULT, standard error would be closed without this.
    if separation == nil {
      unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDERR_FILENO)
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    var (none, usual) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigemptyset(&usual)
    // Ignored signals are inherited through `exec` (POSIX), unlike handlers. The program would
    // otherwise go on writing to a pipe that nobody reads.
    for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&usual, number) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var child: pid_t = 0
    let name = separation == nil ? path : "urlcache-admin"
    var arguments =
      unsafe ([name] + (separation?.arguments ?? [])).map { unsafe strdup($0) } + [nil]
    var variables = unsafe (separation?.variables ?? []).map { unsafe strdup($0) } + [nil]
    defer { unsafe (arguments + variables).forEach { text in unsafe free(text) } }
    // `posix_spawn` and not `fork`: after a fork, only async-signal-safe functions may be called
    // while other threads exist.
    let failure =
      separation == nil
      ? unsafe posix_spawn(&child, path, &actions, &attributes, &arguments, environ)
      : unsafe posix_spawn(&child, path, &actions, &attributes, &arguments, &variables)
    return (child, failure)
  }
}

/// The name of a signal, such as `SIGKILL`; its number for another one than those that end a process.
public func signalName(_ number: Int32) -> String {
  let names = [
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGHUP: "SIGHUP", SIGILL: "SIGILL",
    SIGINT: "SIGINT", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS",
    SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP", SIGXCPU: "SIGXCPU",
  ]
  return names[number] ?? "signal \(number)"
}

/// The C function `pipe`, which the method of the same name hides.
private func openPipe(_ ends: inout [Int32]) -> Int32 {
  unsafe pipe(&ends)
}
