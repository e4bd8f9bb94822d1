import Files
import ResponseArchives

/// The folder of an export, which appears complete or not at all.
///
/// While it exists, terminating signals are held back, and make the next file throw, so that nothing partial is left.
final class FolderOutput: ExportFolder {
  private let signals = HeldSignals()
  private let path: String
  private var folder: (any OutputFolder)?

  /// - Parameter path: The path of the folder, which must be empty or not exist.
  init(path: String, _ environment: CommandEnvironment) throws(CommandFailure) {
    // In one stream, nobody could tell where a file ends.
    guard path != "-" else {
      throw .usage("cannot write files to standard output", hint: "name a folder with '-o'")
    }
    // A trailing slash is allowed for a folder that does not exist yet.
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    self.path = path
    try CommandFailure.refusePartOfCache(at: path)
    do throws(FileError) { folder = try environment.files.createFolder(path) } catch {
      throw CommandFailure(creating: error, canBeForced: false)
    }
  }

  deinit {
    // Remove an uncommitted folder before a held signal ends the process.
    folder = nil
  }

  func makeFolder(_ path: String) throws {
    try checkSignals()
    try folder?.makeFolder(path)
  }

  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    try checkSignals()
    try folder?.makeFile(path, write)
  }

  /// Gives the folder its final name.
  func commit() throws {
    try checkSignals()
    guard let folder = folder.take() else { return }
    do throws(FileError) { try folder.commit() } catch {
      throw CommandFailure(creating: error, canBeForced: false)
    }
  }

  private func checkSignals() throws {
    if signals.haveCome { throw FileError.interrupted(at: path) }
  }
}
