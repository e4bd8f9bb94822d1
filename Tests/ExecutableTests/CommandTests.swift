import Foundation
import Testing

@Suite struct CommandTests {
  @Test func `temporary files that a program leaves are removed`() throws {
    let script =
      #"echo "$TMPDIR"; mkdir "$TMPDIR/urlcache-admin.x"; touch "$TMPDIR/urlcache-admin.x/y""#
    let result = try Command.run("/bin/sh", ["-c", script])
    #expect((result.status, result.errors) == (0, ""))
    let folder = try #require(result.output.split(separator: "\n").first)
    #expect(folder.hasPrefix(FileManager.default.temporaryDirectory.path()))
    #expect(!FileManager.default.fileExists(atPath: String(folder)))
  }
}
