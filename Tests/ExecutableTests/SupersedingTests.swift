import Testing

/// Judges what is taken for superseded, by made-up URLs of which it is known what they stand for.
@Suite struct SupersedingTests {
  @Test func `older versions are found, and hardly anything else`() throws {
    let result = try Command.python(
      "check_superseded.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        seeds that the rules were made with: ok
        other seeds: ok

        """)
  }
}
