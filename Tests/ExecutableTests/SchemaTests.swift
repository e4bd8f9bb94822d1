import Foundation
import Testing

/// Holds what is written as JSON against the schemas, with Python's `jsonschema`.
@Suite struct SchemaTests {
  @Test func `all JSON fits its schema and wrong JSON does not`() throws {
    let schemas = Command.tests.appending(path: "../share/urlcache-admin/schema")
      .standardizedFileURL
    let result = try Command.python(
      "check_schemas.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      schemas.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        list: ok
        entry: ok
        show: ok
        explain: ok
        explanation: ok
        explain-missing: ok
        usage: ok
        discover: ok
        usage-all: ok
        error: ok
        check: ok
        archive-header: ok
        archive-entry: ok
        archive-manifest: ok
        files-index: ok
        purge: ok
        plan: ok
        apply: ok
        enforce: ok
        import: ok
        diff: ok
        revalidate: ok
        compact: ok
        expire: ok
        skipped: ok
        config: ok
        pin: ok
        unpin: ok
        policy-test: ok
        log: ok

        """)
  }
}
