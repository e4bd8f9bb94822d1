import Testing

@Suite struct ConfigurationTests {
  @Test func `files, links, folders and variables configure the binary`() throws {
    let result = try Command.python(
      "check_config.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output
        == "names: ok\nplaces: ok\nrules: ok\nrefusals: ok\nunchanged: ok\nchanging: ok\n")
  }
}
