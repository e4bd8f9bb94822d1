import Files
import ResponseArchives
import ResponseStorage

/// Where an archive or a report goes: a file that appears whole or not at all, or the output.
///
/// As long as it is there, the signals that a user ends a process by are held back; the next piece is then
/// an error, so that nothing is left behind.
final class ArchiveOutput {
  private let signals = HeldSignals()
  private let environment: CommandEnvironment
  private let path: String
  private let isForced: Bool?
  private var file: NewFile?

  /// - Parameters:
  ///   - path: The path of the file; `-` for the output.
  ///   - isForced: Whether a file is replaced, and a terminal gets an archive; `nil` if a user cannot say.
  ///   - isText: Whether it may go to a terminal in any case.
  init(
    path: String, isForced: Bool?, isText: Bool = false, _ environment: CommandEnvironment
  ) throws(CommandFailure) {
    self.environment = environment
    self.path = path
    self.isForced = isForced
    if path == "-" {
      guard isText || isForced == true || !environment.isOutputTerminal else {
        throw .usage(
          "an archive is no text, and the output is a terminal",
          hint: "write it to a file with '-o FILE'")
      }
      return
    }
    try CommandFailure.refusePartOfCache(at: path)
    do throws(FileError) { file = try NewFile(at: path, replacing: isForced ?? false) } catch {
      throw CommandFailure(creating: error, canBeForced: isForced != nil)
    }
  }

  deinit {
    // A file that was not committed goes before a signal that came meanwhile ends the process.
    file = nil
  }

  /// Writes the next piece.
  func write(_ bytes: [UInt8]) throws {
    if signals.haveCome { throw FileError.interrupted(at: path) }
    if path == "-" { try environment.write(bytes) } else { try file?.write(bytes) }
  }

  /// Gives the file its name.
  func commit() throws {
    if signals.haveCome { throw FileError.interrupted(at: path) }
    guard let file = file.take() else { return }
    do throws(FileError) { try file.commit(replacing: isForced ?? false) } catch {
      throw CommandFailure(creating: error, canBeForced: isForced != nil)
    }
  }
}

extension ResponseSource {
  /// Refuses to replace the store itself by a file at a path.
  func refuseReplacement(by path: String) throws(CommandFailure) {
    let there = try? FileStatus.of(path)
    guard let there, there.identity == description.identity else { return }
    throw CommandFailure.usage("'\(path)' is the cache itself", hint: "take another name")
  }
}

extension CommandFailure {
  /// Says why a file cannot be created.
  init(creating error: FileError, canBeForced: Bool) {
    let hint: String? =
      if error.kind == .exists {
        "take another name" + (canBeForced ? ", or replace it with '--force'" : "")
      } else if error == .notReplaceable(at: error.path) {
        "it is no file; '-' is the output, which the shell can lead anywhere"
      } else {
        nil
      }
    self.init(
      .cannotCreate, kind: "cannot-create", "cannot create \(error)", hint: hint,
      path: error.path)
  }

  /// Says what is wrong with an archive.
  init(_ error: ResponseArchiveError) {
    let hint: String? =
      switch error.kind {
      case .notAnArchive: "write one with 'urlcache-admin export -c PATH -o FILE'"
      case .tooNew: "read it with the version that wrote it"
      case .limit: "if the archive is to be trusted, raise it with '--archive-limit NAME=NUMBER'"
      case .damaged, .cannotWrite: nil
      }
    self.init(
      error.kind == .cannotWrite ? .inputOutput : .data, kind: error.kind.rawValue,
      error.description, hint: hint, path: error.path)
  }
}
