import Testing

/// Lists caches of each kind column by column.
@Suite struct ColumnTests {
  @Test func `a column says the same whatever else is decoded`() throws {
    let result = try Command.python(
      "check_columns.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "apple: ok\nfoundation: ok\n")
  }
}
