import Testing

/// Removes entries from folders of Foundation, beside a real second process, and looks at what is left.
@Suite(.serialized) struct PurgingTests {
  #if os(Linux)
    @Test func `what is purged of a folder of Foundation is gone, and no other file is touched`()
      throws
    {
      let result = try Command.python(
        "check_foundation_purging.py", BuiltProduct("urlcache-admin").path,
        BuiltProduct("sample-cache").path)
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          every second entry: ok
          a dry run says what a real one does: ok
          changed since: ok
          what URLCache does not see: ok
          hostile folders: ok
          enforcing: ok
          as removeCachedResponses(since:): ok
          beside a writer: ok
          two at once: ok
          stopped by a signal: ok

          """)
    }
  #endif
}
