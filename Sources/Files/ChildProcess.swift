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
/// end of its input.
public struct ChildProcess: ~Copyable {
  private let number: pid_t
  private let input: Int32
  private let output: Int32
  private let path: String

  /// Starts the program at a path, without arguments. It inherits standard error.
  public init(_ path: String) throws(FileError) {
    let (readable, input) = try Self.pipe(path)
    let output: Int32
    let writable: Int32
    do throws(FileError) { (output, writable) = try Self.pipe(path) } catch {
      close(readable)
      close(input)
      throw error
    }
    let started = Self.start(path, input: readable, output: writable)
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
    // The program has nothing to save. Waiting for it without killing it could last as long as a
    // time-out of a request.
    kill(number, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(number, &status, 0) < 0, errno == EINTR {}
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
    _ path: String, input: Int32, output: Int32
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
    unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDERR_FILENO)
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
    guard let name = unsafe strdup(path) else { return (0, ENOMEM) }
    defer { unsafe free(name) }
    var arguments = unsafe [name, nil]
    // `posix_spawn` and not `fork`: after a fork, only async-signal-safe functions may be called
    // while other threads exist.
    let failure = unsafe posix_spawn(&child, path, &actions, &attributes, &arguments, environ)
    return (child, failure)
  }
}

/// The C function `pipe`, which the method of the same name hides.
private func openPipe(_ ends: inout [Int32]) -> Int32 {
  unsafe pipe(&ends)
}
