import Administration
import Bytes

/// Hints for values of options that other programs use.
extension OptionHints {
  /// Returns the failure for a value with a clear meaning; `nil` for other messages of ArgumentParser.
  func failure(invalidIn message: String) -> CommandFailure? {
    guard let (option, value) = invalid(in: message) else { return nil }
    switch option {
    case "--limit", "-n":
      guard value == "all" else { break }
      return .usage(
        "'\(option)': 'all' is not a number",
        hint: command.name == "list"
          ? "without '\(option)', all entries are listed"
          : "write a large number, such as '\(option) 1000000'")
    case "--sort":
      guard let column = Self.column(forOrder: value) else { return unknownColumn(in: message) }
      return .usage(
        "'\(printable(value))' is not a column to sort by",
        hint: line(replacing: option, value, by: ["--sort=\(column)"])
          .map { "did you mean: \($0)" })
    case "--columns": return unknownColumn(in: message)
    case "--status" where ["stale", "fresh", "expired"].contains(value):
      return .usage(
        "'\(printable(value))' is not a status",
        hint: line(replacing: option, value, by: [value == "fresh" ? "--fresh" : "--stale"])
          .map { "did you mean: \($0)" })
    case "--older-than" where Self.isNumber(value), "--newer-than" where Self.isNumber(value):
      return .usage(
        "'\(printable(value))' has no unit. Write '\(value)d' for days, or s, min, h, w, mo or y"
          + " instead of d.",
        hint: (line(joining: value, after: option)
          ?? line(replacing: option, value, by: [option, "\(value)d"]))
          .map { "did you mean: \($0)" })
    case "--create":
      // The option names the format, and '-c' the new cache.
      guard !words.contains("-c"), !words.contains("--cache") else { break }
      return .usage(
        "'--create': unknown value '\(printable(value))'",
        hint: line(replacing: option, value, by: ["-c", value]).map { "did you mean: \($0)" })
    case "--body":
      // Elsewhere a text is no more likely than a place of bodies.
      let options = ["list": ["--contains"], "grep": ["--in", "body"], "diff": ["--bodies"]]
      guard let new = options[command.name] else { break }
      return .usage(
        "'--body': unknown value '\(printable(value))'",
        hint: line(replacing: option, value, by: new + [value]).map { "did you mean: \($0)" })
    case "--status":
      guard let condition = Self.condition(excluding: value), !words.contains("--where") else {
        return nil
      }
      return .usage(
        "'\(printable(value))' is not a status",
        hint: line(replacing: option, value, by: ["--where", condition])
          .map { "exclude it with '--where': \($0)" })
    case "-f" where VerbSynonyms.changing.contains(command.name):
      guard command.options().contains("--yes") else { break }
      return .usage(
        "'-f' takes a format, but '\(printable(value))' is not one",
        hint: line(replacing: option, value, by: ["--yes", value]).map { "did you mean: \($0)" })
    case "-f":
      // Otherwise the cache is named, and the value is a misspelt format.
      guard command.name == "watch", words.dropFirst().first == option else { break }
      return .usage(
        "'-f' takes a format, but '\(printable(value))' is not one",
        hint: line(replacing: option, value, by: [value])
          .map { "'watch' always follows the cache; write: \($0)" })
    default: break
    }
    return failure(forValue: value, of: option, in: message)
  }

  /// Returns the failure for a value that is not in the list of a message, or is no number; `nil` for other messages.
  private func failure(
    forValue value: String, of option: String, in message: String
  ) -> CommandFailure? {
    if message.firstRange(of: "' is invalid for '\(option) <number>'") != nil {
      return .usage(
        "'\(option)': '\(printable(value))' is not a number",
        hint: "write '\(option) 10', for example")
    }
    // The value itself may contain these words.
    guard let list = message.ranges(of: "Please provide one of ").last else {
      return failure(withReasonIn: message, value, of: option)
    }
    // The list is either lines of the form '  - table', or one line of quoted values.
    let lines = message[list.upperBound...].split(separator: "\n")
    guard let line = lines.first else { return nil }
    let bullets = lines.filter { $0.utf8.starts(with: "  - ".utf8) }.map { String($0.dropFirst(4)) }
    let quoted = line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    let values = bullets.isEmpty ? quoted : bullets
    // What is spelled like a format, as 'ndjson' is like 'json', need not be what was meant.
    let all = values.joined(separator: ", ")
    let others = ["-f", "--format"].contains(option) ? " The formats are: \(all)" : ""
    return .usage(
      "'\(option)': unknown value '\(printable(value))'",
      hint: Spelling.nearest(to: value, among: values).map { "did you mean '\($0)'?\(others)" }
        ?? "use one of: \(all)")
  }

  /// Returns the failure for a value that one of our parsers refuses: its reason is a sentence, and its hint those that follow.
  private func failure(
    withReasonIn message: String, _ value: String, of option: String
  ) -> CommandFailure? {
    let beginning = "The value '\(value)' is invalid for '\(option)"
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    let rest = message.utf8.dropFirst(beginning.utf8.count)
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
      let reason = String(rest[colon...].dropFirst(2))
    else { return nil }
    // The value can contain the end of a sentence.
    let quoted = "'\(value)'"
    let start = reason.firstRange(of: quoted)?.upperBound ?? reason.startIndex
    // ArgumentParser adds a summary of the help.
    let last = reason[start...].firstRange(of: "\nHelp:  ")?.lowerBound ?? reason.endIndex
    let end = reason[start..<last].firstRange(of: ". ")
    let sentence = String(reason[..<(end?.lowerBound ?? last)])
    let more = end.map { String(reason[$0.upperBound..<last]) }
    return .usage(
      "'\(option)': \(Self.clause(sentence))", hint: more.map(Self.clause) ?? help)
  }

  /// Returns a sentence without its capital and its full stop.
  static func clause(_ sentence: String) -> String {
    var bytes = Array(sentence.utf8)
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    if let first = bytes.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
      bytes[0] = first | 0x20
    }
    return String(decoding: bytes, as: UTF8.self)
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

  /// Whether a text is a number without a unit.
  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit)
  }

  /// Returns the command line for a duration that was written as two words, as in `3 months`; `nil` if it was not.
  private func line(joining number: String, after option: String) -> String? {
    guard let index = words.firstIndex(of: option), index + 2 < words.count,
      words[index + 1] == number,
      (try? WrittenValue.duration("\(number) \(words[index + 2])")) != nil
    else { return nil }
    let joined = number + words[index + 2]
    return suggested(Array(words[..<(index + 1)] + [joined] + words[(index + 3)...]))
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

  /// Returns the command line with other words in place of an option and its value.
  private func line(
    replacing option: String, _ value: String, by replacement: [String]
  ) -> String? {
    if let index = words.firstIndex(of: "\(option)=\(value)") {
      return suggested(Array(words[..<index] + replacement + words[(index + 1)...]))
    }
    let index = words.indices.first { index in
      words[index] == option && index + 1 < words.count && words[index + 1] == value
    }
    return index.map { index in
      suggested(Array(words[..<index] + replacement + words[(index + 2)...]))
    }
  }
}

extension OptionHints {
  /// Returns a failure for a column that does not exist, with the most similar one; `nil` for another message.
  private func unknownColumn(in message: String) -> CommandFailure? {
    guard let start = message.firstRange(of: "Unknown column '")?.upperBound else { return nil }
    let name = String(
      decoding: Array(message[start...].utf8.prefix { $0 != UInt8(ascii: "'") }), as: UTF8.self)
    let nearest = Spelling.nearest(to: name, among: EntryField.columns.map(\.name))
    return .usage(
      "unknown column '\(name)'",
      hint: nearest.map { "did you mean '\($0)'?" }
        ?? "list the columns with: urlcache-admin \(command.name) --help")
  }
}
