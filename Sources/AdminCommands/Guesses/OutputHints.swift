import Bytes
import Files
import Rendering

/// Hints for options such as `-5`, and for output files where a command writes to standard output.
extension OptionHints {
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
      hint: "did you mean: \(suggested(line))")
  }

  /// Returns the failure for an option with the file to read, which is an operand; `nil` for another option.
  func failure(forInput option: String) -> CommandFailure? {
    guard option == "--file" || option == "-i", let index = words.firstIndex(of: option),
      index + 1 < words.count, (try? FileStatus.of(words[index + 1])) != nil,
      let line = line(leavingOut: option, takesValue: false)
    else { return nil }
    return unknown(option, "did you mean: \(line)")
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
    if ["json", "ndjson", "jsonl", "csv", "tsv"].contains(file), options.contains("--format") {
      return unknown(
        option,
        "did you mean: "
          + suggested(Array(words[..<index] + ["--format"] + words[(index + 1)...])))
    }
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
      hint: "did you mean: \(suggested(line)) > \(ShellText.word(ByteString(file)))")
  }
}
