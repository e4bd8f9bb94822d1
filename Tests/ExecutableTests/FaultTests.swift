import Testing

/// Lets commands that change a cache meet faults, a selection of all that `Tests/Faults` tries, and
/// looks at what is left with `sqlite3`.
@Suite(.serialized) struct FaultTests {
  @Test func `a command that is killed at any system call leaves a valid cache`() throws {
    let result = try check("check_killing.py")
    #expect(result.output == "purge: ok\nenforce: ok\napply: ok\ncheck --repair: ok\ncompact: ok\n")
  }

  @Test func `the next command finishes what a killed one has left and says so`() throws {
    let result = try check("check_intents.py")
    #expect(
      result.output == """
        every verb: ok
        looking: ok
        not committed: ok
        in use: ok
        no state folder: ok

        """)
  }

  @Test func `a command that is interrupted or has no room says what it did`() throws {
    let result = try check("check_interrupting.py")
    // Not every kernel lets users mount one.
    #expect(
      result.output.replacing("file system: not here", with: "file system: ok") == """
        SIGINT: ok
        SIGTERM: ok
        rewriting: ok
        small file system: ok
        small files: ok
        two at once: ok

        """)
  }

  @Test func `a cache is valid after a power failure`() throws {
    let result = try check("check_power.py")
    #expect(result.output == "purge: ok\npurge, rollback journal: ok\n")
  }

  @Test func `an import is whole or nothing after a power failure`() throws {
    let result = try check("check_import_power.py")
    #expect(result.output == "many bodies: ok\nfew bodies: ok\nbeside another process: ok\n")
  }

  @Test func `an import into a folder of Foundation's leaves each entry old or new`() throws {
    let result = try check("check_foundation_import_faults.py")
    #expect(result.output == "ends: ok\npower: ok\n")
  }

  private func check(_ script: String) throws -> Command {
    let result = try Command.python(
      script, BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    return result
  }
}
