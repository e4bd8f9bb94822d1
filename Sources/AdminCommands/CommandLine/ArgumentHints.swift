import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseArchives

/// Hints for missing operands, and for values of options that other programs use.
extension OptionHints {
  // MARK: Missing arguments

  /// Returns the failure for a missing operand or a missing '-o'; `nil` for other messages of ArgumentParser.
  func failure(missingIn message: String) -> CommandFailure? {
    let beginning = "Missing expected argument '"
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    let name = message.utf8.dropFirst(beginning.utf8.count)
      .prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: " ") }
    let argument = String(name) ?? ""
    if argument == "--output" { return failureWithoutFile() }
    guard argument.utf8.first == UInt8(ascii: "<") else { return nil }
    switch command.name {
    case "diff":
      let isSecond = argument == "<second>"
      return .usage(
        "'diff' compares two caches or archives, but \(isSecond ? "one is" : "none are") named",
        hint: isSecond
          ? "name both: \(line(adding: ["OTHER"]))" : "name both: urlcache-admin diff OLD NEW")
    case "import":
      return .usage(
        "'import' needs an archive or another cache to import from",
        hint: "write: urlcache-admin import FILE -c CACHE")
    case "apply":
      return .usage(
        "'apply' needs the file of a plan",
        hint: "write a plan with: urlcache-admin purge CACHE --stale --plan plan.json")
    default:
      guard let example = BriefHelp.all[command.name]?.examples.first else { return nil }
      return .usage(
        "'\(command.name)' needs \(argument)", hint: "for example: urlcache-admin \(example)")
    }
  }

  /// Returns the failure for a command that writes a new file, without the name of one.
  private func failureWithoutFile() -> CommandFailure? {
    let names = ["export": "NEW.tar.zst", "report": "report.html"]
    guard let name = names[command.name] else { return nil }
    // The ending of the name chooses the format, so no option is needed for it.
    let formats = ExportFormat.allCases.filter { !$0.endings.isEmpty }
    for format in formats where command.name == "export" {
      let option = words.firstIndex { word in
        format.endings.contains { ending in
          word == "--" + (String(ending.utf8.dropFirst()) ?? "")
        }
      }
      guard let option, let ending = format.endings.first else { continue }
      var line = words
      line.remove(at: option)
      return .usage(
        "'export' has no option '\(words[option])', because the name of the file chooses the format",
        hint: "write: \(Self.commandLine(line, adding: ["-o", "NEW\(ending)"]))")
    }
    return .usage(
      "'\(command.name)' needs '-o' and the name of the new file",
      hint: "write: \(line(adding: ["-o", name])); '-o -' is standard output")
  }

  // MARK: Invalid values

  /// Returns the failure for a value with a clear meaning; `nil` for other messages of ArgumentParser.
  func failure(invalidIn message: String) -> CommandFailure? {
    guard let (option, value) = invalid(in: message) else { return nil }
    switch option {
    case "--limit", "-n":
      guard value == "all" else { return nil }
      return .usage(
        "'\(option)' takes a number, but 'all' is not one",
        hint: command.name == "list"
          ? "without '\(option)', all entries are listed"
          : "write a large number, such as '\(option) 1000000'")
    case "--sort":
      guard let column = Self.column(forOrder: value) else { return nil }
      return .usage(
        "'\(printable(value))' is not a column to sort by",
        hint: line(replacing: option, value, by: ["--sort=\(column)"])
          .map { "did you mean: \($0)" })
    case "--status":
      guard let condition = Self.condition(excluding: value), !words.contains("--where") else {
        return nil
      }
      return .usage(
        "'\(printable(value))' is not a status",
        hint: line(replacing: option, value, by: ["--where", condition])
          .map { "exclude it with '--where': \($0)" })
    case "-f":
      guard command.name == "watch" else { return nil }
      return .usage(
        "'-f' takes a format, but '\(printable(value))' is not one",
        hint: line(replacing: option, value, by: [value])
          .map { "'watch' always follows the cache; write: \($0)" })
    default: return nil
    }
  }

  /// Returns the option and the value of a message about an invalid value.
  private func invalid(in message: String) -> (option: String, value: String)? {
    let beginning = "The value '"
    guard message.utf8.starts(with: beginning.utf8),
      let middle = message.firstRange(of: "' is invalid for '")
    else { return nil }
    let value = message.utf8[..<middle.lowerBound].dropFirst(beginning.utf8.count)
    let option = message.utf8[middle.upperBound...]
      .prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: " ") }
    guard let value = String(value), let option = String(option) else { return nil }
    return (option, value)
  }

  /// Returns the column for an order that is named by what comes first, or as in other programs.
  private static func column(forOrder name: String) -> String? {
    switch name.utf8.first == UInt8(ascii: "-") ? String(name.dropFirst()) : name {
    case "largest", "biggest": "-size"
    case "smallest": "size"
    case "newest", "latest", "recent": "age"
    case "oldest": "-age"
    case "name": "url"
    case "time": "stored"
    case "type": "mime"
    case "domain": "host"
    default: nil
    }
  }

  /// Returns the expression for statuses such as `!200`; `nil` for other text.
  private static func condition(excluding statuses: String) -> String? {
    guard statuses.utf8.first == UInt8(ascii: "!") else { return nil }
    let wanted = String(statuses.dropFirst())
    guard let ranges = try? WrittenValue.statuses(wanted),
      // Expressions have classes, but no ranges.
      !wanted.utf8.contains(UInt8(ascii: "-"))
    else { return nil }
    return ranges.count == 1 ? "status != \(wanted)" : "!(status in (\(wanted)))"
  }

  // MARK: Options that are numbers or redirections

  /// Returns the failure for an option such as `-5`; `nil` for another option.
  func failure(forNumber option: String) -> CommandFailure? {
    let digits = option.utf8.dropFirst()
    guard option.utf8.first == UInt8(ascii: "-"), !digits.isEmpty,
      digits.allSatisfy(\.isASCIIDigit), let index = words.firstIndex(of: option)
    else { return nil }
    let options = command.options()
    let name = command.name == "grep" ? "--context" : "--limit"
    guard options.contains(name), let number = String(digits) else { return nil }
    let line = (words[..<index] + [name, number] + words[(index + 1)...])
      // The number replaces that of 'head'.
      .filter { !$0.utf8.starts(with: "--limit=".utf8) }
    return .usage(
      "'\(command.name)' has no option '\(option)'",
      hint: "did you mean: \(Self.commandLine(line))")
  }

  /// Returns the failure for an output file, where a command writes to standard output; `nil` for another option.
  func failure(forOutput option: String) -> CommandFailure? {
    guard ["-o", "--output", "--out", "--outfile"].contains(option),
      !VerbSynonyms.changing.contains(command.name), let index = words.firstIndex(of: option),
      index + 1 < words.count
    else { return nil }
    let options = command.options()
    guard !options.contains("--output") else { return nil }
    let file = words[index + 1]
    var line = Array(words[..<index] + words[(index + 2)...])
    let ending = file.utf8.split(separator: UInt8(ascii: ".")).last.flatMap { String($0) } ?? ""
    let formats = [
      "list": ["csv", "tsv", "json", "ndjson", "jsonl"], "usage": ["csv", "tsv", "json"],
    ]
    let isFormat = (formats[command.name] ?? ["json"]).contains(ending)
    let hasFormat = line.contains { word in
      ["-f", "--format", "--json"].contains(word) || word.utf8.starts(with: "--format=".utf8)
    }
    if isFormat, !hasFormat, options.contains("--format") { line += ["--format", ending] }
    return .usage(
      "'\(command.name)' has no option '\(option)', because it writes to standard output",
      hint: "did you mean: \(Self.commandLine(line)) > \(ShellText.word(ByteString(file)))")
  }

  // MARK: Command lines

  /// Returns the command line with other words in place of an option and its value.
  private func line(
    replacing option: String, _ value: String, by replacement: [String]
  ) -> String? {
    if let index = words.firstIndex(of: "\(option)=\(value)") {
      return Self.commandLine(Array(words[..<index] + replacement + words[(index + 1)...]))
    }
    let index = words.indices.first { index in
      words[index] == option && index + 1 < words.count && words[index + 1] == value
    }
    return index.map { index in
      Self.commandLine(Array(words[..<index] + replacement + words[(index + 2)...]))
    }
  }

  /// Returns the command line with further words.
  private func line(adding new: [String]) -> String { Self.commandLine(words, adding: new) }

  /// Returns a command line with further words, before a `--`.
  static func commandLine(_ words: [String], adding new: [String]) -> String {
    let options = words.prefix { $0 != "--" }
    return commandLine(options + new + words.dropFirst(options.count))
  }
}
