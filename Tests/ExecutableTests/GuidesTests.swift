import Testing

/// Holds the page for readers of guides against the program.
@Suite struct GuidesTests {
  @Test func `each row of the guides has a command that says what it should`() throws {
    let result = try Command.python(
      "check_guides.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output
        == "125 of 128 rows have a command that says what it should, 3 have none\n")
  }
}
