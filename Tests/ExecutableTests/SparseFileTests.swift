import Foundation
import Testing

@Suite struct SparseFileTests {
  @Test func `a file of 2^63-1 bytes ends no command`() throws {
    // Neither ext4 nor the file system of macOS holds such a file.
    let result = try Command.python(
      "check_sparse.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let canHold = result.output != "no file system here holds such a file\n"
    #expect(
      !canHold
        || result.output == """
          the body of an entry: ok
          a body file that no entry names: ok
          an entry of a Foundation cache: ok
          a report of more such bodies than it shows: ok

          """
    )
  }
}
