public import Administration
public import Auditing

/// Renders the report of a cache, as HTML or Markdown.
public struct ReportRenderer: Sendable {
  /// Which secrets the report may contain.
  public var secrets: SecretPolicy

  /// The name and the version of the program.
  public var generator: String

  /// Creates a renderer.
  public init(secrets: SecretPolicy, generator: String) {
    self.secrets = secrets
    self.generator = generator
  }

  /// Appends a report as one HTML file that loads nothing.
  ///
  /// - Parameter audit: The findings of an audit; `nil` for a report without them.
  public func appendHTML(
    _ report: CacheReport, audit: AuditTally? = nil, into buffer: inout TextBuffer
  ) {
    let page = ReportPage(
      words: ReportWords(report: report, secrets: secrets), generator: generator, audit: audit)
    buffer.append(contentsOf: page.html.bytes)
  }

  /// Appends a report as Markdown.
  ///
  /// - Parameter audit: The findings of an audit; `nil` for a report without them.
  public func appendMarkdown(
    _ report: CacheReport, audit: AuditTally? = nil, into buffer: inout TextBuffer
  ) {
    let text = ReportMarkdown(
      words: ReportWords(report: report, secrets: secrets), generator: generator, audit: audit)
    buffer.append(contentsOf: text.markdown.bytes)
  }
}
