public import Administration

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
  public func appendHTML(_ report: CacheReport, into buffer: inout TextBuffer) {
    let page = ReportPage(
      words: ReportWords(report: report, secrets: secrets), generator: generator)
    buffer.append(contentsOf: page.html.bytes)
  }

  /// Appends a report as Markdown.
  public func appendMarkdown(_ report: CacheReport, into buffer: inout TextBuffer) {
    let text = ReportMarkdown(
      words: ReportWords(report: report, secrets: secrets), generator: generator)
    buffer.append(contentsOf: text.markdown.bytes)
  }
}
