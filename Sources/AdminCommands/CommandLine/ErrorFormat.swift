import ArgumentParser

/// Whether errors are written as JSON objects.
///
/// A parsed command knows its format. For a command line that cannot be parsed, this has ArgumentParser read only
/// `--format` and `--json`, so that the last one counts, and none after `--`.
struct ErrorFormat: ParsableArguments {
  @Option(name: [.customShort("f"), .long]) var format: String?
  @Flag var json = false
  @Argument(parsing: .allUnrecognized) var others: [String] = []

  /// Whether a command line that cannot be parsed requests JSON.
  static func isJSON(in words: [String]) -> Bool {
    guard let options = try? ErrorFormat.parse(words) else { return false }
    return options.json || options.format == "json"
  }
}
