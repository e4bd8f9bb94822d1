import Foundation
import Testing

@Suite struct ManualTests {
  @Test func `the manual says what the program says, and its examples work`() throws {
    let share = Command.tests.appending(path: "../share").standardizedFileURL
    let result = try Command.python(
      "check_manual.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      share.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "drift: ok\nmarkup: ok\nexamples: ok\n")
  }
}
