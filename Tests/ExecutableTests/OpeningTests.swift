import Testing

/// Opens caches in every state that a database can be in, beside a real second process.
@Suite(.serialized) struct OpeningTests {
  @Test func `every state of a database is read right or refused and nothing changes`() throws {
    let result = try Command.python("check_opening.py", BuiltProduct("urlcache-admin").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        closed: ok
        closed, read-only folder: ok
        log without index: ok
        log without index, read-only folder: ok
        hot journal: ok
        hot journal, read-only folder: ok
        journal of several files: ok
        live: ok
        live, open write transaction: ok
        live, rollback journal: ok
        exclusive lock: ok
        exclusive locking mode: ok
        changed while reading: ok
        empty file with a log: ok
        view: ok
        virtual table: ok
        generated column: ok
        trigger: ok
        named pipe: ok
        symbolic link: ok
        folder as log: ok
        device: ok
        missing: ok
        unreadable: ok
        body file names: ok
        missing rows and wrong types: ok

        """)
  }
}
