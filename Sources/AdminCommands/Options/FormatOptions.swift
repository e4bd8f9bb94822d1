public import ArgumentParser

/// A format in which a command can write its results.
public protocol OutputFormat: ExpressibleByArgument, CaseIterable, Equatable {
  /// The format unless an option selects another.
  static var table: Self { get }

  /// JSON.
  static var json: Self { get }
}

extension OutputFormat where Self: RawRepresentable<String> {
  /// Parses the name of a format; `text` is accepted for `table`, and `jsonl` for `ndjson`.
  public init?(argument: String) {
    self.init(rawValue: ["text": "table", "jsonl": "ndjson"][argument] ?? argument)
  }
}

/// The options for the format of the results.
struct FormatOptions<Format: OutputFormat>: ParsableArguments {
  @Option(name: [.customShort("f"), .customLong("format")], help: "The output format.")
  var given = Format.table

  @Flag(name: .customLong("json"), help: "The same as '--format json'.")
  var isJSON = false

  /// The format to write.
  var format: Format { isJSON ? .json : given }

  func validate() throws {
    guard !isJSON || given == .table || given == .json else {
      throw ValidationError("'--json' and '--format \(given)' cannot be combined.")
    }
  }
}
