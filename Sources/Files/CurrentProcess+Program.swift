#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension CurrentProcess {
  /// The path of the running program without symbolic links; `nil` if the system does not provide it.
  public static var programPath: String? {
    #if canImport(Darwin)
      var size = UInt32(4_096)
      var buffer = [CChar](repeating: 0, count: Int(size))
      guard unsafe _NSGetExecutablePath(&buffer, &size) == 0,
        let resolved = unsafe realpath(buffer, nil)
      else { return nil }
    #else
      guard let resolved = unsafe realpath("/proc/self/exe", nil) else { return nil }
    #endif
    defer { unsafe free(resolved) }
    return unsafe String(validatingCString: resolved)
  }
}
