import Bytes
import Rendering
import ResponseArchives

/// A guess such as `convert OLD NEW`, which `export` or `import` does, depending on the names.
struct Conversion {
  /// The word for it.
  private let verb: String
  /// What to convert, and the new archive or cache, as far as they are named.
  private let operands: [String]
  /// The format of the new cache, if it is named.
  private let format: CreatedStore?
  /// The other words.
  private let rest: [String]

  private static let verbs: Set = [
    "convert", "migrate", "transform", "copy", "backup", "snapshot", "save", "dump",
  ]

  /// Reads a command line; `nil` if it converts nothing.
  init?(in words: [String]) {
    guard let verb = words.first, Self.verbs.contains(verb) else { return nil }
    self.verb = verb
    // Later words may be values of options.
    operands = Array(words.dropFirst().prefix(2).prefix { $0.utf8.first != UInt8(ascii: "-") })
    let after = Array(words.dropFirst(1 + operands.count))
    let place = after.firstIndex { CreatedStore(rawValue: $0) != nil }
    format = place.flatMap { CreatedStore(rawValue: after[$0]) }
    rest =
      place.map { place in
        let isValue =
          place > 0 && ["--to", "--as", "--format", "--create"].contains(after[place - 1])
        return Array(after[..<(isValue ? place - 1 : place)] + after[(place + 1)...])
      } ?? after
  }

  /// The command line that converts; `nil` if the words do not show what to write.
  var commandLine: [String]? {
    guard operands.count == 2 else { return rest == ["--help"] || rest == ["-h"] ? help : nil }
    if ExportFormat(ofFileNamed: operands[1]) != nil {
      return ["export", operands[0], "-o", operands[1]] + rest
    }
    let isArchive = ExportFormat(ofFileNamed: operands[0]) != nil
    return (format ?? (isArchive ? .apple : nil)).map { creating($0) + rest }
  }

  /// The command lines that convert, for people.
  var hint: String {
    let archive = "write an archive with: \(Self.line(["export", source, "-o", "NEW.tar.zst"]))"
    guard operands.count == 2 || ["convert", "migrate", "copy"].contains(verb) else {
      return archive
    }
    let cache =
      "create a cache with: \(Self.line(creating(.apple)))"
      + ", or with: \(Self.line(creating(.foundation)))"
    return operands.count == 2 ? cache : "\(cache); \(archive)"
  }

  private var help: [String] { ["export"] + rest }

  private var source: String { operands.first ?? "OLD" }

  private func creating(_ format: CreatedStore) -> [String] {
    let new = operands.count == 2 ? operands[1] : "NEW"
    return ["import", source, "-c", new, "--create", format.rawValue]
  }

  private static func line(_ words: [String]) -> String { OptionHints.commandLine(words) }
}
