import Testing

/// Revalidates at an origin that behaves in every way that origins do.
@Suite struct BehaviourTests {
  @Test func `each way in which an origin behaves is told, and leaves what it should`() throws {
    let result = try Command.python(
      "check_behaviours.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "apple: 63 of 63\nfoundation: 63 of 63\n", "\(result.errors)")
  }
}
