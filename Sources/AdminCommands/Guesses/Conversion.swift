import Bytes
import Rendering
import ResponseArchives

/// A guess such as `convert OLD NEW`, which `export` or `import` does, depending on the names.
struct Conversion {
  /// The word for it.
  private let verb: String
  /// What to convert, and the new archive or cache, as far as they are named.
  private var operands: [String]
  /// The format of the new cache, if it is named.
  private var format: CreatedStore?
  /// The format of the new archive, if it is named.
  private var archive: ExportFormat?
  /// The other words.
  private var rest: [String] = []

  private static let verbs: Set = [
    "convert", "migrate", "transform", "copy", "backup", "snapshot", "save", "dump",
  ]

  /// Reads a command line; `nil` if it converts nothing.
  init?(in words: [String]) {
    guard let verb = words.first, Self.verbs.contains(verb) else { return nil }
    self.verb = verb
    operands = []
    var words = words.dropFirst()
    var hasOptions = false
    while let word = words.popFirst() {
      if let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")),
        Self.formatOptions.contains(String(decoding: Array(word.utf8[..<equals]), as: UTF8.self)),
        take(String(decoding: Array(word.utf8[equals...].dropFirst()), as: UTF8.self))
      {
        continue
      }
      if Self.formatOptions.contains(word), let value = words.first, take(value) {
        words.removeFirst()
      } else if word == "--from", let value = words.first, Self.isFormat(value) {
        // The contents of the file show its format.
        words.removeFirst()
      } else if CreatedStore(rawValue: word) != nil {
        _ = take(word)
      } else if !hasOptions, operands.count < 2, word.utf8.first != UInt8(ascii: "-") {
        operands.append(word)
      } else {
        // Later words may be values of options.
        hasOptions = true
        rest.append(word)
      }
    }
  }

  /// The options for the new archive or cache, or for its format.
  private static let formatOptions: Set = [
    "--to", "--as", "--format", "-f", "--create", "-o", "--output", "--out",
  ]

  /// Takes the value of an option as a format or as the second operand.
  ///
  /// - Returns: Whether it can be one of them.
  private mutating func take(_ value: String) -> Bool {
    if let new = CreatedStore(rawValue: value) {
      format = new
    } else if let new = Self.archiveFormat(value) {
      archive = new
    } else if operands.count == 1, value.utf8.first != UInt8(ascii: "-") {
      operands.append(value)
    } else {
      return false
    }
    return true
  }

  /// Returns the format of an archive with a name such as `har` or `tar.zst`.
  private static func archiveFormat(_ name: String) -> ExportFormat? {
    ExportFormat.allCases.first { $0.endings.contains(".\(name)") }
  }

  private static func isFormat(_ word: String) -> Bool {
    CreatedStore(rawValue: word) != nil || archiveFormat(word) != nil
  }

  /// The command line that converts; `nil` if the words do not show what to write.
  var commandLine: [String]? {
    guard operands.count == 2 else { return rest == ["--help"] || rest == ["-h"] ? help : nil }
    if ExportFormat(ofFileNamed: operands[1]) != nil {
      return ["export", operands[0], "-o", operands[1]] + rest
    }
    if let archive {
      return ["export", operands[0], "-o", operands[1], "--format", archive.rawValue] + rest
    }
    let isArchive = ExportFormat(ofFileNamed: operands[0]) != nil
    return (format ?? (isArchive ? .apple : nil)).map { creating($0) + rest }
  }

  /// The command lines that convert, for people.
  var hint: String {
    let ending = archive?.endings.first ?? ".tar.zst"
    let line = "write an archive with: \(Self.line(["export", source, "-o", "NEW\(ending)"]))"
    guard archive == nil, operands.count == 2 || ["convert", "migrate", "copy"].contains(verb)
    else { return line }
    let cache =
      "create a cache with: \(Self.line(creating(.apple)))"
      + ", or with: \(Self.line(creating(.foundation)))"
    return operands.count == 2 ? cache : "\(cache); \(line)"
  }

  private var help: [String] { ["export"] + rest }

  private var source: String { operands.first ?? "OLD" }

  private func creating(_ format: CreatedStore) -> [String] {
    let new = operands.count == 2 ? operands[1] : "NEW"
    return ["import", source, "-c", new, "--create", format.rawValue]
  }

  private static func line(_ words: [String]) -> String { OptionHints.commandLine(words) }
}
