import Files
import ResponseArchives
import ResponseStorage

/// The destination of an archive or a report: standard output, or a file that appears complete or not at all.
///
/// While it exists, terminating signals are held back, and make the next write throw, so that no partial file is left.
final class ArchiveOutput {
  private let signals = HeldSignals()
  private let environment: CommandEnvironment
  private let path: String
  private let isForced: Bool?
  private var file: (any OutputFile)?

  /// - Parameters:
  ///   - path: The path of the file; `-` for standard output.
  ///   - isForced: Whether to replace a file, and to write an archive to a terminal; `nil` if there is no such option.
  ///   - isText: Whether it can always be written to a terminal.
  init(
    path: String, isForced: Bool?, isText: Bool = false, _ environment: CommandEnvironment
  ) throws(CommandFailure) {
    self.environment = environment
    self.path = path
    self.isForced = isForced
    if path == "-" {
      guard isText || isForced == true || !environment.isOutputTerminal else {
        throw .usage(
          "refusing to write an archive to the terminal",
          hint: "write it to a file with '-o FILE'")
      }
      return
    }
    try CommandFailure.refusePartOfCache(at: path)
    do throws(FileError) { file = try environment.files.create(path, isForced ?? false) } catch {
      throw CommandFailure(creating: error, canBeForced: isForced != nil)
    }
  }

  /// Checks that a file can be created, without leaving anything behind or holding signals back.
  static func check(
    path: String, isForced: Bool, in environment: CommandEnvironment
  ) throws(CommandFailure) {
    if path == "-" { return }
    try CommandFailure.refusePartOfCache(at: path)
    do throws(FileError) { _ = try environment.files.create(path, isForced) } catch {
      throw CommandFailure(creating: error, canBeForced: true)
    }
  }

  deinit {
    // Remove an uncommitted file before a held signal ends the process.
    file = nil
  }

  /// Writes the next bytes.
  func write(_ bytes: [UInt8]) throws {
    if signals.haveCome { throw FileError.interrupted(at: path) }
    if path == "-" { try environment.write(bytes) } else { try file?.write(bytes) }
  }

  /// Gives the file its final name.
  func commit() throws {
    if signals.haveCome { throw FileError.interrupted(at: path) }
    guard let file = file.take() else { return }
    do throws(FileError) { try file.commit() } catch {
      throw CommandFailure(creating: error, canBeForced: isForced != nil)
    }
  }
}

extension ResponseSource {
  /// Rejects to replace the store itself.
  func refuseReplacement(by path: String) throws(CommandFailure) {
    let there = try? FileStatus.of(path)
    // By the identity of the file and not by its path, of which it may have several.
    guard let there, there.identity == description.identity else { return }
    throw CommandFailure.usage("'\(path)' is the cache itself", hint: "use another name")
  }
}

extension CommandFailure {
  /// Creates the failure to create a file.
  init(creating error: FileError, canBeForced: Bool) {
    guard !error.isOfTemporaryFile else {
      self.init(error)
      return
    }
    let hint: String? =
      if error.kind == .exists {
        "use another name" + (canBeForced ? ", or replace it with '--force'" : "")
      } else if error == .notReplaceable(at: error.path) {
        "it is not a regular file; use '-o -' and redirect standard output"
      } else {
        nil
      }
    self.init(
      .cannotCreate, kind: "cannot-create", "cannot create \(error)", hint: hint,
      path: error.path)
  }

  /// Creates a failure from an error of an archive.
  init(_ error: ResponseArchiveError) {
    let hint: String? =
      switch error.kind {
      case .notAnArchive: "write one with 'urlcache-admin export -c PATH -o FILE'"
      case .tooNew: "use the version of urlcache-admin that wrote it"
      case .limit: "if you trust the archive, raise the limit with '--archive-limit NAME=NUMBER'"
      case .damaged, .cannotWrite: nil
      }
    self.init(
      error.kind == .cannotWrite ? .inputOutput : .data, kind: error.kind.rawValue,
      error.description, hint: error.hint ?? hint, path: error.path)
  }
}
