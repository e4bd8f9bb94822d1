import Foundation
import Testing

/// Runs commands as timers do.
@Suite(.serialized) struct SchedulingTests {
  @Test func `a run beside a lock, with little time, or before its turn does as it was told`()
    throws
  {
    let result = try Command.python(
      "check_schedules.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "busy: ok\nshort of time: ok\nsplay: ok\n")
  }
}
