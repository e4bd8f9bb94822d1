public import ArgumentParser
public import Progress
import Rendering

/// The options for colors and progress.
struct TerminalOptions: ParsableArguments {
  @Option(help: ArgumentHelp("When to use colors; 'auto' on a terminal only.", valueName: "when"))
  var color = ColorMode.auto

  @Option(
    help: ArgumentHelp(
      "When to show progress on standard error; 'auto' on a terminal only, 'json' as lines of"
        + " JSON.", valueName: "when"))
  var progress = ProgressMode.auto

  /// Returns the options in the words of a command line, even of one that cannot be parsed.
  static func reading(_ words: [String]) -> TerminalOptions {
    var options = TerminalOptions()
    // Without a value, reading the options would end the process.
    (options.color, options.progress) = (.auto, .auto)
    // To parse the words takes a fifth of the instructions of a short command, and they rarely hold one of the options.
    let names = ["--color", "--progress"]
    let isWritten = words.contains { word in
      names.contains { word.utf8.starts(with: $0.utf8) }
    }
    guard isWritten else { return options }
    let written = try? WrittenTerminalOptions.parse(words)
    options.color = written?.color.flatMap { ColorMode(rawValue: $0) } ?? .auto
    options.progress = written?.progress.flatMap { ProgressMode(rawValue: $0) } ?? .auto
    return options
  }

  /// Returns what text may look like on a stream.
  func style(
    onTerminal isTerminal: Bool, _ variable: (String) -> String?
  ) -> TextStyle {
    TextStyle(
      isColored: isColored(onTerminal: isTerminal, variable),
      isASCII: Self.isASCII(variable))
  }

  /// Whether a stream has colors, by the options, the environment and the stream, in this order.
  private func isColored(
    onTerminal isTerminal: Bool, _ variable: (String) -> String?
  ) -> Bool {
    func value(_ name: String) -> String { variable(name) ?? "" }
    switch color {
    case .always: return true
    case .never: return false
    case .auto:
      if !value("NO_COLOR").isEmpty { return false }
      if !["", "0"].contains(value("CLICOLOR_FORCE")) { return true }
      if value("TERM") == "dumb" || value("CLICOLOR") == "0" { return false }
      return isTerminal
    }
  }

  /// Whether the locale is without UTF-8. Without a locale, as in containers and services, terminals use UTF-8.
  private static func isASCII(_ variable: (String) -> String?) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(variable)
    guard let locale = names.first(where: { !$0.isEmpty }) else { return false }
    let letters = locale.lowercased().utf8.filter { $0 != UInt8(ascii: "-") }
    return !String(decoding: Array(letters), as: UTF8.self).contains("utf8")
  }
}

/// When to use colors.
enum ColorMode: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never
}

extension ProgressMode: ExpressibleByArgument {}

/// The terminal options as they are written, without the other words of the command line.
private struct WrittenTerminalOptions: ParsableArguments {
  @Option var color: String?
  @Option var progress: String?
  @Argument(parsing: .allUnrecognized) var others: [String] = []
}
