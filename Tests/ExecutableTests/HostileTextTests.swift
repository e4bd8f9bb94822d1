import Testing

/// Lists an entry whose URL is made to harm whoever looks at it.
@Suite struct HostileTextTests {
  @Test func `a hostile URL is harmless in every format and exact in JSON`() throws {
    let result = try Command.python("check_hostile_text.py", BuiltProduct("urlcache-admin").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        table: ok
        csv: ok
        tsv: ok
        urls: ok
        json: ok
        ndjson: ok
        show: ok
        url file: ok

        """)
  }
}
