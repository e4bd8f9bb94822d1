import Bytes
import ResponseArchives

/// Hints for missing operands and output files.
extension OptionHints {
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
        "'diff' compares two caches or archives, but "
          + (isSecond ? "only one was given" : "none were given"),
        hint: isSecond
          ? "name both: \(line(adding: ["OTHER"]))" : "name both: urlcache-admin diff OLD NEW")
    case "import":
      return .usage(
        "'import' needs an archive or another cache to import from",
        hint: "write: urlcache-admin import FILE -c CACHE")
    case "apply":
      return .usage(
        "'apply' needs a plan file",
        hint: "write a plan with: urlcache-admin purge CACHE --stale --plan plan.json")
    default:
      if argument == "<value>", let line = lineDividingValue() {
        return .usage("'\(command.name)' needs \(argument)", hint: "did you mean: \(line)")
      }
      let examples = BriefHelp.all[command.name]?.examples ?? []
      guard let example = examples.first ?? (command.name == "completion" ? "completion bash" : nil)
      else { return nil }
      return .usage(
        "'\(command.name)' needs \(argument)", hint: "for example: urlcache-admin \(example)")
    }
  }

  /// Returns the command line for `config set NAME=VALUE` in two words; `nil` if there is no such word.
  private func lineDividingValue() -> String? {
    let index = words.lastIndex { $0.utf8.contains(UInt8(ascii: "=")) }
    guard let index else { return nil }
    let parts = words[index].utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
      .map { String(decoding: Array($0), as: UTF8.self) }
    return suggested(Array(words[..<index] + parts + words[(index + 1)...]))
  }

  /// Returns the failure for a command that writes a new file, without the name of one.
  private func failureWithoutFile() -> CommandFailure? {
    let names = ["export": "NEW.tar.zst", "report": "report.html"]
    guard var name = names[command.name] else { return nil }
    let given = ["-f", "--format", "--archive-format"].compactMap { value(of: $0) }.first
    let format = given.flatMap { ExportFormat(rawValue: $0) }
    if command.name == "export", let ending = format?.endings.first { name = "NEW\(ending)" }
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
        "'export' has no option '\(words[option])', because the file name determines the format",
        hint: "write: \(OptionHints.commandLine(line, adding: ["-o", "NEW\(ending)"]))")
    }
    return .usage(
      "'\(command.name)' needs '-o' and the name of the new file",
      hint: "write: \(line(adding: ["-o", name]))\(Self.outputNote)")
  }

  /// Returns the command line with further words.
  private func line(adding new: [String]) -> String {
    let options = words.prefix { $0 != "--" }
    return suggested(options + new + words.dropFirst(options.count))
  }

  /// Returns a command line with further words, before a `--`.
  static func commandLine(_ words: [String], adding new: [String]) -> String {
    let options = words.prefix { $0 != "--" }
    return commandLine(options + new + words.dropFirst(options.count))
  }
}
