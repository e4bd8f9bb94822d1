import Testing

/// Compares what lifetimes and validators save with a judgement of its own, and with `explain`.
@Suite struct SavingsTests {
  @Test func `savings are what freshness and validators make of each entry`() throws {
    let result = try Command.python(
      "check_savings.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "savings: ok\n")
  }
}
