import Testing

/// Indents random JSON, and compares with what Python's `json` makes of it.
@Suite struct PrettyTests {
  @Test func `JSON is indented as Python does and all else is refused`() throws {
    let result = try Command.python("check_pretty.py", BuiltProduct("urlcache-admin").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        random JSON: ok
        large JSON: ok
        wrong JSON: ok

        """)
  }
}
