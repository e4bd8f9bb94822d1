import Bytes
import Files
import ResponseArchives

/// Names of new files that show what was meant, but not the format of an archive.
extension URLCacheAdmin.Export {
  /// Returns the format of the new archive.
  ///
  /// - Throws: ``CommandFailure`` if it is unknown, with the command that writes such a file.
  func format(in environment: CommandEnvironment) throws(CommandFailure) -> ExportFormat {
    do throws(CommandFailure) { return try archive.format(for: output) } catch {
      var failure = error
      failure.hint = hint(in: environment) ?? error.hint
      throw failure
    }
  }

  /// Returns the hint for the name of the new file; `nil` if it has no clear meaning.
  private func hint(in environment: CommandEnvironment) -> String? {
    guard archive.archiveFormat == nil else { return nil }
    let bytes = output.utf8
    if bytes.last == UInt8(ascii: "/") || (try? FileStatus.of(output))?.kind == .directory {
      let line = OptionHints.commandLine(environment.words, adding: ["--format", "files"])
      return "write the bodies as files to a new folder with: \(line)"
    }
    let ending = bytes.split(separator: UInt8(ascii: ".")).last.flatMap { String($0) } ?? ""
    switch ending {
    case "json", "ndjson", "jsonl", "csv", "tsv":
      guard var words = wordsWithoutOutput(environment.words) else { return nil }
      words[0] = "list"
      let line = OptionHints.commandLine(words, adding: ["--format", ending])
      return "write the list of the entries with: \(line) > \(OptionHints.shellWord(output))"
    case "db":
      guard let cache = cache.cache else { return nil }
      let isInFolder = bytes.reversed().starts(with: "/Cache.db".utf8.reversed())
      let folder = String(bytes.dropLast(isInFolder ? "/Cache.db".utf8.count : ".db".utf8.count))
      return folder.map {
        "create a cache with: " + OptionHints.commandLine(["import", cache, "-c", $0])
      }
    default: return nil
    }
  }

  /// Returns the words of the command line without the name of the new file.
  private func wordsWithoutOutput(_ words: [String]) -> [String]? {
    guard let index = words.lastIndex(of: output), index > 1,
      ["-o", "--output", "--to"].contains(words[index - 1])
    else { return nil }
    return Array(words[..<(index - 1)] + words[(index + 1)...])
  }
}
