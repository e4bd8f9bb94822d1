import Foundation
import Testing

/// Reads reports with a parser of HTML and with a real browser, and lists a cache for a real `ncdu`.
@Suite struct ReportTests {
  @Test(.enabled(if: Peers.areInstalled, Peers.hint))
  func `a report is what it says, and no text of a cache gets out of its place`() throws {
    let result = try Command.python(
      "check_report.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        file: ok
        hostile text: ok
        markdown: ok
        size: ok
        ncdu: ok
        browser: ok
        drill-down: ok
        slider: ok
        table: ok
        theme: ok
        widths: ok
        tampering: ok

        """)
  }

  @Test func `every command that a report prints runs, and does what the report says`() throws {
    let samples = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(components: "..", "..", "..", "shared", "samples", "cachedb")
    let result = try Command.python(
      "check_report_commands.py", BuiltProduct("urlcache-admin").path,
      BuiltProduct("sample-cache").path, samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output.hasPrefix(
        """
        made-up caches: ok
        Foundation caches: ok
        free pages and a large log: ok
        beside an app: ok
        what cannot be changed: ok
        damaged databases: ok

        """), "\(result.output)")
  }
}

/// The programs that reports and lists are made for.
private enum Peers {
  static let hint: Comment = "there is no chromium, ncdu or tmux: run sh Tests/run.sh"

  static var areInstalled: Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ["chromium", "ncdu", "tmux"].allSatisfy { name in
      folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
  }
}
