#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Returns an absolute path to the same file, or `path` itself if the working folder is unknown.
///
/// Symbolic links are not resolved. The corresponding C function is `getcwd`.
public func absolutePath(_ path: String) -> String {
  guard path.utf8.first != UInt8(ascii: "/") else { return path }
  let folder: String? = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) {
    guard let start = unsafe getcwd($0.baseAddress, $0.count) else { return nil }
    return unsafe String(validatingCString: start)
  }
  return folder.map { $0.utf8.last == UInt8(ascii: "/") ? $0 + path : "\($0)/\(path)" } ?? path
}
