import Foundation
import Testing

/// Runs commands as timers do, and holds the units for them against the tools that read them.
@Suite(.serialized) struct SchedulingTests {
  @Test func `a run beside a lock, with little time, or before its turn does as it was told`()
    throws
  {
    let result = try Command.python(
      "check_schedules.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "busy: ok\nshort of time: ok\nsplay: ok\n")
  }

  @Test func `what is installed works where shells, cron and systemd look, and goes again`() throws
  {
    let checkout = Command.tests.appending(path: "..").standardizedFileURL
    let result = try Command.python(
      "check_installing.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      checkout.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output.hasSuffix("removed: ok\n"), "\(result.output)")
  }

  @Test(.enabled(if: Systemd.isInstalled, Systemd.hint))
  func `units are what systemd reads, and one keeps a cache within its limit in its sandbox`()
    throws
  {
    let share = Command.tests.appending(path: "../share").standardizedFileURL
    let result = try Command.python(
      "check_units.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      share.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    // Not every machine lets namespaces and groups be made.
    #expect(
      result.output.replacing(": not here", with: ": ok") == """
        verify: ok
        security: ok
        launchd: ok
        system calls: ok
        run for a user: ok
        run in the sandbox: ok

        """)
  }
}

/// The program that checks units.
private enum Systemd {
  static let hint: Comment = "there is no systemd-analyze: run sh Tests/run.sh"

  static var isInstalled: Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/systemd-analyze")
    }
  }
}
