import Testing

/// Clears stamps of apps.
@Suite(.serialized) struct ExpiringTests {
  @Test func `only the stamps of what is selected go, also beside an app`() throws {
    let result = try Command.python(
      "check_expiring.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == "keys: ok\nstamps: ok\nrefusals: ok\nhostile: ok\nbeside an app: ok\n")
  }
}
