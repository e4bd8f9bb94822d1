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
