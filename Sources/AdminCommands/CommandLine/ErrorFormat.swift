import ArgumentParser

/// Whether errors are written as JSON objects.
///
/// A command that was parsed knows it. Of a command line that cannot be parsed this asks ArgumentParser for its
/// `--format` alone: so the last one counts, and none behind `--`.
struct ErrorFormat: ParsableArguments {
  @Option var format: String?
  @Argument(parsing: .allUnrecognized) var others: [String] = []

  /// Whether a command line that cannot be parsed asks for JSON.
  static func isJSON(in words: [String]) -> Bool {
    (try? ErrorFormat.parse(words))?.format == "json"
  }
}
