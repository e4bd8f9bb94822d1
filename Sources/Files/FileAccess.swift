#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Checks of what this user may do with files.
public enum FileAccess {
  /// Checks that this user may write to a file, or add files to a folder and remove them.
  ///
  /// A symbolic link is followed. The corresponding C function is `faccessat` with `AT_EACCESS`.
  public static func checkWriting(to path: String) throws(FileError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .last(at: path) }
    let mode = status.st_mode & S_IFMT == S_IFDIR ? W_OK | X_OK : W_OK
    // The effective user counts, as that is who writes. Plain `access` asks for the real one.
    guard unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 else { throw .last(at: path) }
  }

  /// Whether a file belongs to this user; a symbolic link is followed.
  public static func isOwn(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_uid == geteuid()
  }
}
