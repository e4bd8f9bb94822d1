import Testing

/// Compares a cache with the side files of an app that a script plays.
@Suite struct SidecarTests {
  @Test func `side files are compared and sent and removed and rebuilt`() throws {
    let result = try Command.python(
      "check_sidecars.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        apple, looking: ok
        apple, repairing: ok
        apple, purging: ok
        apple, cleared: ok
        foundation, looking: ok
        foundation, repairing: ok
        foundation, purging: ok
        naming: ok
        refusals: ok

        """)
  }
}
