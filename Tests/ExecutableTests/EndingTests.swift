import Testing

/// Ends commands from outside, and lets them wait, beside a real second process.
@Suite(.serialized) struct EndingTests {
  @Test func `a list that is cut short leaves nothing behind`() throws {
    let result = try Command.python(
      "check_endings.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        SIGINT: ok
        SIGTERM: ok
        closed pipe: ok
        private copy: ok
        while copying: ok
        nothing changed

        """)
  }

  @Test func `a lock is waited for as long as was asked for`() throws {
    let result = try Command.python(
      "check_waiting.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        let go in time: ok
        kept: ok
        not waited for: ok

        """)
  }

  @Test func `nothing changes where what is written beside it cannot be`() throws {
    let result = try Command.python(
      "check_outputs.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        refused before anything changes: ok
        no other file is spoiled: ok
        folders are made: ok
        metrics of two at once: ok
        a plan is whole or not there: ok
        a backup that does not fit: ok

        """)
  }
}
