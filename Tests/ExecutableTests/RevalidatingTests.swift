import Testing

/// Revalidates entries at an origin on this machine, and looks at the caches with the programs of the system.
@Suite(.serialized) struct RevalidatingTests {
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
}
