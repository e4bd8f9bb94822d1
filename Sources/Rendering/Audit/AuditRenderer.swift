public import Auditing
public import Bytes
import JSON
public import ResponseStorage

/// Renders the findings of an audit.
///
/// Formats for programs have every finding, in the order of entries. Those for people rank the hosts, and show a few
/// findings of each rule.
public struct AuditRenderer: Sendable {
  /// The output format.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    case table, json, ndjson, sarif, markdown
  }

  /// What is known about the audit as a whole.
  public struct Summary: Sendable {
    /// The cache.
    public var cache: StoreDescription
    /// The number of entries that were read.
    public var entries: Int64
    /// The number of findings that a baseline contains.
    public var known: Int64

    /// Creates a summary.
    public init(cache: StoreDescription, entries: Int64, known: Int64) {
      (self.cache, self.entries, self.known) = (cache, entries, known)
    }
  }

  let format: Format
  let words: AuditWords
  let rules: [AuditRule]
  let cache: StoreDescription
  let generator: Generator
  /// The number of hosts to show.
  let mostHosts: Int
  var stream = JSONStream(.hostileText)

  /// The program that made an output.
  public struct Generator: Sendable {
    /// The name of the program.
    public let name: String
    /// Its version.
    public let version: String

    /// Creates the name and version of a program.
    public init(name: String, version: String) { (self.name, self.version) = (name, version) }
  }

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - rules: The rules that are applied.
  ///   - mostHosts: The number of hosts to show to people.
  public init(
    _ format: Format, secrets: SecretPolicy, now: Timestamp, rules: [AuditRule],
    of cache: StoreDescription, by generator: Generator, mostHosts: Int
  ) {
    (self.format, words) = (format, AuditWords(secrets: secrets, now: now))
    (self.rules, self.cache, self.generator) = (rules, cache, generator)
    self.mostHosts = mostHosts
  }

  /// Appends the text before the findings.
  public mutating func begin(into buffer: inout TextBuffer) {
    switch format {
    case .json: stream.begin("findings", in: &buffer.bytes) { $0.member(schema: "audit") }
    case .sarif: beginSARIF(into: &buffer)
    case .table, .ndjson, .markdown: break
    }
  }

  /// Appends a finding, in the formats that have all.
  public mutating func append(_ finding: AuditFinding, into buffer: inout TextBuffer) {
    let words = words
    switch format {
    case .json: stream.append(to: &buffer.bytes) { $0.members(of: finding, words) }
    case .ndjson:
      buffer.writeJSON {
        $0.members(of: finding, words)
        $0.endLine()
      }
    case .sarif: appendSARIF(finding, into: &buffer)
    case .table, .markdown: break
    }
  }

  /// Appends the text after the findings.
  public mutating func finish(
    _ tally: AuditTally, _ summary: Summary, into buffer: inout TextBuffer
  ) {
    switch format {
    case .table: appendTable(tally, summary, into: &buffer)
    case .markdown: buffer.append(ByteString(markdown(tally, summary).bytes))
    case .json: finishJSON(tally, summary, into: &buffer)
    case .sarif: stream.end(in: &buffer.bytes)
    case .ndjson: break
    }
  }
}
