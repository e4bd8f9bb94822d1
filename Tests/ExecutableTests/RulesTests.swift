import Testing

/// Pins, classes and rules of made-up caches of both kinds, with the built binary.
@Suite struct RulesTests {
  @Test func `entries have classes, and what is needed offline is there or named`() throws {
    let result = try Command.python(
      "check_classes.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "usage: ok\noffline set: ok\n")
  }

  @Test func `rules that never want entries, saved queries and presets hold`() throws {
    let result = try Command.python(
      "check_rules.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output
        == "findings: ok\nrevalidation: ok\nrefusals: ok\nsaved queries: ok\npresets: ok\n")
  }
}
