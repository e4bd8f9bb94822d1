import Testing

/// Revalidates entries at an origin on this machine, and looks at the caches with the programs of the system.
@Suite(.serialized) struct RevalidatingTests {
  @Test func `answers are told apart and what is refreshed is read again by others`() throws {
    let result = try Command.python(
      "check_revalidating.py", BuiltProduct("urlcache-admin").path,
      BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        report: ok
        asking: ok
        refusals: ok
        refreshing: ok
        purging: ok
        ends: ok

        """)
  }

  @Test func `what is sent is what an explanation shows and nothing else`() throws {
    let result = try Command.python(
      "check_wire.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        conditional requests: ok
        variants: ok
        converging: ok
        statuses: ok

        """)
  }

  @Test func `what was cut off is resumed byte by byte or not at all`() throws {
    let result = try Command.python(
      "check_resuming.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        apple resumed: 200 of 200
        apple changed: ok
        apple weak: ok
        apple lies: ok
        apple other URLs: ok
        apple JSON: ok
        foundation resumed: 200 of 200
        foundation changed: ok
        foundation weak: ok
        foundation lies: ok
        foundation other URLs: ok
        foundation JSON: ok
        words: ok

        """)
  }

  @Test func `what fetches takes little memory, however slowly its answers are read`() throws {
    let result = try Command.python(
      "check_fetching.py", BuiltProduct("urlcache-admin-fetch").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        held: ok
        cancelled: ok
        unpacked: ok
        silent: ok

        """)
  }
}
