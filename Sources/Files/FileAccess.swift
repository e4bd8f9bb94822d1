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

  /// Returns why this user cannot read a file; `nil` if they can.
  public static func errorOfReading(_ path: String) -> FileError? {
    do throws(FileError) { _ = try OpenFile(readingThroughLinks: path) } catch { return error }
    return nil
  }

  /// Checks that this user may write to a file, or create it and the missing folders above it; creates nothing.
  public static func checkCreating(at path: String) throws(FileError) {
    if let there = try? FileStatus.of(path) {
      if there.kind == .directory { throw FileError(EISDIR, at: path) }
      return try checkWriting(to: path)
    }
    var rest = path.utf8[...]
    while true {
      while rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
      let slash = rest.lastIndex(of: UInt8(ascii: "/"))
      rest = slash.map { rest[...$0] } ?? rest.prefix(0)
      let folder = rest.isEmpty ? "." : String(decoding: Array(rest), as: UTF8.self)
      do throws(FileError) {
        try checkWriting(to: folder)
        _ = try Directory(folder, followingLink: true)
        return
      } catch {
        // A file in the place of a folder is an error, too.
        let isMissing = error.number == ENOENT && !rest.isEmpty
        guard isMissing else { throw FileError(error.number, at: path) }
      }
    }
  }

  /// Checks that this user may create a file with ``NewFile``, or replace it; creates nothing.
  public static func checkReplacing(at path: String) throws(FileError) {
    if (try? FileStatus.of(path))?.kind == .directory { throw FileError(EISDIR, at: path) }
    // Another name, as not the file itself is written to.
    do throws(FileError) { try checkCreating(at: path + ".partial.none") } catch {
      throw FileError(error.number, at: path)
    }
  }

  /// Whether a file belongs to this user; a symbolic link is followed.
  public static func isOwn(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_uid == geteuid()
  }
}
