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

  @Test(.enabled(if: Systemd.isInstalled, Systemd.hint))
  func `units are what systemd reads, and one keeps a cache within its limit in its sandbox`()
    throws
  {
    let share = Command.tests.appending(path: "../share").standardizedFileURL
    let result = try Command.python(
      "check_units.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      share.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let sandbox = "run in the sandbox: "
    #expect(
      [sandbox + "ok", sandbox + "not here"].contains { last in
        result.output == """
          verify: ok
          security: ok
          launchd: ok
          system calls: ok
          \(last)

          """
      }, "\(result.output)")
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
