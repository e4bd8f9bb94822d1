import Testing

/// Reads from streams and writes to files that other processes change meanwhile.
@Suite(.serialized) struct StreamTests {
  @Test
  func `a non-blocking standard input is read to its end, and interrupted reads are repeated`()
    throws
  {
    let result = try check("check_input.py")
    #expect(result.output == "list of URLs: ok\nanswer: ok\ninterrupted: ok\n")
  }

  @Test func `a file that appears just before an export gets its name is not replaced`() throws {
    let result = try check("check_new_files.py")
    #expect(
      result.output == "renamed: ok\nlinked: ok\nno rename: ok\nno link: ok\ntwo names: ok\n")
  }

  private func check(_ script: String) throws -> Command {
    let result = try Command.python(
      script, BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    return result
  }
}
