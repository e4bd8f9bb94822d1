import Administration
public import ArgumentParser
import Bytes
import Rendering

/// The options for secrets in the output.
struct SecretOptions: ParsableArguments {
  @Flag(help: "Show passwords, cookies, tokens and request bodies instead of '***'.")
  var showSecrets = false

  // The name derived from the property would be `--redact-ur-ls`.
  @Flag(
    name: .customLong("redact-urls"),
    help: "Also mask secrets in URLs and keys in machine-readable formats.")
  var redactURLs = false

  var policy: SecretPolicy { SecretPolicy(showSecrets: showSecrets, redactURLs: redactURLs) }
}

/// A buffer for rendered text, which is written in large pieces.
struct OutputBuffer {
  /// The bytes above which text is written. A pipe on Linux holds 64 KiB, so larger pieces would wait for the reader anyway.
  static let pieceLength = 1 << 16

  /// The text that has not been written.
  var text: TextBuffer
  private let environment: CommandEnvironment

  init(_ environment: CommandEnvironment) {
    self.environment = environment
    text = TextBuffer(style: environment.outputStyle)
  }

  /// Writes the text if there is much of it.
  mutating func flushIfLarge() throws { try environment.flushIfLarge(&text) }

  /// Writes the text.
  mutating func flush() throws { try environment.flush(&text) }
}

extension CommandEnvironment {
  /// Writes a text and empties it, if there is much of it.
  func flushIfLarge(_ text: inout TextBuffer) throws {
    if text.bytes.count >= OutputBuffer.pieceLength { try flush(&text) }
  }

  fileprivate func flush(_ text: inout TextBuffer) throws {
    guard !text.bytes.isEmpty else { return }
    try write(text.bytes)
    text.removeAll(keepingCapacity: true)
  }
}

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

/// The options for messages on standard error.
struct MessageOptions: ParsableArguments {
  @Flag(
    name: [.customShort("q"), .long],
    help: "Write no notes, hints, summaries or receipts, only errors.")
  var quiet = false
}

/// The names of all columns, separated by spaces.
let columnNames = EntryField.columns.map(\.name).joined(separator: " ")

/// Parses comma-separated columns, or `all`; in a key, `\,` is a comma and `\\` a backslash.
func parseColumns(_ text: String) throws -> [EntryField] { try parseColumns(text, adding: []) }

/// Parses columns like those of `list`, or `all`, where a command has more of them.
func parseColumns(_ text: String, adding own: [EntryField]) throws -> [EntryField] {
  // Sidecar files are another option.
  if text == "all" { return EntryField.columns.filter { !$0.needsSidecars } + own }
  var parts: [[UInt8]] = [[]]
  var bytes = Array(text.utf8)[...]
  while let byte = bytes.popFirst() {
    if byte == UInt8(ascii: ",") {
      parts.append([])
    } else if byte == UInt8(ascii: "\\"), let next = bytes.first,
      next == UInt8(ascii: ",") || next == byte
    {
      parts[parts.count - 1].append(next)
      bytes = bytes.dropFirst()
    } else {
      parts[parts.count - 1].append(byte)
    }
  }
  let names = ([columnNames] + own.map(\.name)).joined(separator: " ")
  let all = "Use one of: \(names) user-info:KEY proto-props:KEY."
  // A comma too many, as at the end of a list, is no reason to fail.
  let named = parts.filter { !$0.isEmpty }
  if named.isEmpty { throw ValidationError("No column given. \(all)") }
  return try named.map { name in
    let name = String(decoding: name, as: UTF8.self)
    guard let column = own.first(where: { $0.name == name }) ?? EntryField(column: name) else {
      throw ValidationError("Unknown column '\(printable(name))'. \(all)")
    }
    return column
  }
}

extension Configuration {
  /// All errors in the files, including errors in columns, which only this module can check.
  var allErrors: [ConfigurationError] { errors + columnErrors }

  private var columnErrors: [ConfigurationError] {
    files.flatMap(\.queries).flatMap { query in
      [
        query.columns.flatMap { (try? parseColumns($0.text)) == nil ? $0 : nil },
        query.sort.flatMap { (try? ResponseOrder(parsing: $0.text)) == nil ? $0 : nil },
      ].compactMap { $0 }.map { value in
        ConfigurationError(
          value.place == query.sort?.place
            ? "'\(value.text)' is not a column to sort by"
            : "'\(value.text)' is not a list of columns",
          at: value.place, hint: "use one of: \(columnNames) user-info:KEY proto-props:KEY")
      }
    }
  }

  /// Returns the saved query with a name.
  func query(named name: String) throws(CommandFailure) -> SavedQuery {
    // By bytes: two names that Unicode takes for equal are two keys in TOML.
    if let query = queries.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return query }
    let names = queries.map(\.name)
    throw .usage(
      "unknown saved query '\(printable(name))'",
      hint: names.isEmpty
        ? "add one to the configuration as '[saved.NAME]'; 'man urlcache-admin.conf' has an example"
        : "use one of: " + names.joined(separator: ", "))
  }
}
