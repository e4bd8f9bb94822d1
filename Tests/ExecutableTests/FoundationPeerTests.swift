import Testing

#if os(Linux)
  /// Holds reading and writing of Foundation's stores against Foundation's own `URLCache`.
  @Suite(.serialized) struct FoundationPeerTests {
    @Test func `Foundation and this program read each other and no file harms this one`() throws {
      let result = try Command.python(
        "check_foundation.py", BuiltProduct("urlcache-admin").path,
        BuiltProduct("sample-cache").path, "32")
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          stock to ours: ok
          ours to stock: ok
          deaths: ok
          bombs: ok
          files: ok
          damage: ok
          kinds: ok

          """)
    }

    @Test func `Foundation does under each policy what explanations say`() throws {
      let result = try Command.python("check_policies.py", BuiltProduct("urlcache-admin").path)
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          useProtocolCachePolicy: ok
          reloadIgnoringLocalCacheData: ok
          reloadIgnoringCacheData: ok
          reloadIgnoringLocalAndRemoteCacheData: ok
          returnCacheDataElseLoad: ok
          returnCacheDataDontLoad: ok
          reloadRevalidatingCacheData: ok
          requests: ok
          query: ok

          """)
    }
  }
#endif
