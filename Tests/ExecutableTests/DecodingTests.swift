import Testing

/// Decodes bodies that `gzip`, `zstd` and Python compressed, and bodies that are broken or huge.
@Suite struct DecodingTests {
  @Test func `compressed bodies are decoded whole or not at all`() throws {
    let result = try Command.python("check_decoding.py", BuiltProduct("urlcache-admin").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        decoded: ok
        as stored: ok
        broken: ok
        bombs: ok

        """)
  }
}
