import ArgumentParser

/// Whether errors are written as JSON objects.
///
/// A parsed command knows its format. For a command line that cannot be parsed, this has ArgumentParser read only
/// `--format`, so that the last one counts, and none after `--`.
struct ErrorFormat: ParsableArguments {
  @Option var format: String?
  @Argument(parsing: .allUnrecognized) var others: [String] = []

  /// Whether a command line that cannot be parsed requests JSON.
  static func isJSON(in words: [String]) -> Bool {
    (try? ErrorFormat.parse(words))?.format == "json"
  }
}
