#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How far written data has to come before a process goes on.
enum Durability {
  /// The drive has stored it, and all that it was given before: a loss of power takes nothing away.
  case stored

  /// As `stored`, but without attributes that nobody needs for reading, such as the time of the change.
  case storedContent

  /// The drive has it. It is stored when any later file of the same drive is: of many files, only the last one has to wait
  /// for that.
  case sent
}

/// Waits until what was written to an open file, or the entries of an open folder, has come so far.
///
/// No other code calls a C function for that, because `fsync` does not do it on macOS: there, it returns when the drive has
/// the data, which may still be in the memory of the drive. Only `fcntl` with `F_FULLFSYNC` waits until it is stored
/// (the manual page of `fsync` on macOS). On Linux, `fsync` and `fdatasync` do.
///
/// - Returns: Whether it has; otherwise `errno` says why not.
func synchronize(_ descriptor: Int32, _ durability: Durability) -> Bool {
  #if canImport(Darwin)
    // Network and foreign file systems do not know F_FULLFSYNC. SQLite does the same with them.
    if durability != .sent, fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    return fsync(descriptor) == 0
  #else
    return (durability == .storedContent ? fdatasync(descriptor) : fsync(descriptor)) == 0
  #endif
}

/// A sync of a whole file system, on a thread of its own. If nothing waits for it, it still runs to its end.
public final class FileSystemSync: Sendable {
  private let result = Monitor<Result<Bool, FileError>?>(nil)

  /// Begins to write all changes of the file system of a folder to the disk.
  public init(of folder: String) {
    BackgroundThread.start("FileSystemSync") { [result] in
      let ended: Result<Bool, FileError>
      do throws(FileError) {
        ended = .success(try Directory(folder).synchronizeFileSystem())
      } catch { ended = .failure(error) }
      result.update { $0 = ended }
    }
  }

  /// Waits until all changes made before the beginning are on disk.
  ///
  /// - Returns: Whether they are; `false` where the system has no such sync.
  public func wait() throws(FileError) -> Bool {
    try result.wait(until: { $0 != nil }) { $0 ?? .success(false) }.get()
  }
}
