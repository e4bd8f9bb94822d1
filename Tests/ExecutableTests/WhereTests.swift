import Testing

@Suite struct WhereTests {
  @Test func `expressions select what a second evaluation selects`() throws {
    let result = try Command.python(
      "check_where.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "apple: ok\nverbs: ok\nfoundation: ok\ndamaged: ok\n")
  }
}
