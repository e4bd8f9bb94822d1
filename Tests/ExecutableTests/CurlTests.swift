import Testing

/// Runs what `show --curl` writes with real shells and a real `curl`.
@Suite struct CurlTests {
  @Test func `a repeated request arrives as it is stored and nothing else is run`() throws {
    let result = try Command.python("check_curl.py", BuiltProduct("urlcache-admin").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        hostile text: ok
        random requests: ok
        secrets: ok
        what cannot be: ok

        """)
  }
}
