import Foundation
import Testing

@Suite struct CompletionTests {
  @Test func `completions are those that are generated, and work in bash, zsh and fish`() throws {
    let share = Command.tests.appending(path: "../share").standardizedFileURL
    let result = try Command.python(
      "check_completions.py", BuiltProduct("urlcache-admin").path,
      BuiltProduct("sample-cache").path, share.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "drift: ok\nbash: ok\nzsh: ok\nfish: ok\n")
  }
}
