#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif
#if os(Linux)
  internal import CFiles
#endif

/// The rights of this process.
public enum Privileges {
  /// Rights that could not be given up.
  public struct Failure: Error, Hashable, Sendable {
    /// Creates it.
    public init() {}
  }

  /// Cuts this process off from what it got from its parent, but for the standard streams: it is in a session of its own, which
  /// has no terminal, has no other open files, writes no core dump, and ends with its parent.
  ///
  /// Call it before there is another thread or file.
  public static func separate() {
    _ = setsid()
    #if os(Linux)
      // The first is not filtered by any sandbox that allows files; the loop is for old kernels.
      if cfiles_close_from(3) != 0 { closeOneByOne() }
    #else
      closeOneByOne()
    #endif
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Glibc)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #else
      _ = unsafe setrlimit(RLIMIT_CORE, &none)
    #endif
    endWithParent()
  }

  /// Gives up all rights but those of a user, for good, and checks that they are gone.
  ///
  /// Call it after ``separate()``, before there is another thread or file.
  public static func become(user: UInt32, group: UInt32) throws(Failure) {
    guard user != 0 else { throw Failure() }
    #if os(Linux)
      // The order matters: the later steps take the rights that the earlier ones need.
      guard cfiles_control(.init(cfiles_no_new_privileges), 1) == 0,
        setgroups(0, nil) == 0, setresgid(group, group, group) == 0,
        setresuid(user, user, user) == 0,
        // No user can trace it, and no one but root look into it.
        cfiles_control(.init(cfiles_set_dumpable), 0) == 0
      else { throw Failure() }
      // A sandbox may forbid it; then the change of the user has to have taken all of them.
      _ = cfiles_clear_capabilities()
      var (real, effective, saved) = (0 as UInt32, 0 as UInt32, 0 as UInt32)
      guard unsafe getresuid(&real, &effective, &saved) == 0,
        [real, effective, saved].allSatisfy({ $0 == user }),
        unsafe getresgid(&real, &effective, &saved) == 0,
        [real, effective, saved].allSatisfy({ $0 == group }), cfiles_has_capabilities() == 0
      else { throw Failure() }
    #else
      var own = [group]
      guard unsafe setgroups(1, &own) == 0, setgid(group) == 0, setuid(user) == 0,
        refuseTracing(),
        getuid() == user, geteuid() == user, getgid() == group, getegid() == group
      else { throw Failure() }
    #endif
    // What is gone does not come back.
    guard setuid(0) != 0, seteuid(0) != 0, group == 0 || setgid(0) != 0, getuid() == user,
      geteuid() == user
    else { throw Failure() }
    // The change of the user has undone it.
    endWithParent()
  }

  #if canImport(Darwin)
    /// Has the system end whoever traces this process; `false` if it cannot.
    private static func refuseTracing() -> Bool {
      typealias Trace = @convention(c) (Int32, pid_t, UnsafeMutablePointer<CChar>?, Int32) -> Int32
      // Its header is in no module. The first value is `RTLD_DEFAULT`, the last `PT_DENY_ATTACH`.
      guard let symbol = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -2), "ptrace") else {
        return false
      }
      return unsafe unsafeBitCast(symbol, to: Trace.self)(31, 0, nil, 0) == 0
    }
  #endif

  private static func closeOneByOne() {
    let most = Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))
    for descriptor in 3..<max(4, min(most, 1 << 16)) { close(descriptor) }
  }

  /// Elsewhere, it ends when it next reads from its parent or writes to it.
  private static func endWithParent() {
    #if os(Linux)
      // A signal that it can hold until temporary files are removed.
      _ = cfiles_control(.init(cfiles_parent_death_signal), UInt(SIGTERM))
    #endif
  }
}
