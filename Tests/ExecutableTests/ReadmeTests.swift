import Testing

@Suite struct ReadmeTests {
  @Test func `what the README shows is what its commands print`() throws {
    let result = try Command.python(
      "check_readme.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "links: ok\nblocks: ok\n")
  }
}
