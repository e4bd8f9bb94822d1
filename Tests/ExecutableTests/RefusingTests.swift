import Testing

/// Has caches changed that cannot be, and looks at what the commands say and leave.
@Suite(.serialized) struct RefusingTests {
  @Test func `what cannot be changed is refused, and nothing is left behind`() throws {
    let result = try Command.python(
      "check_refusing.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    // Only the superuser can be somebody else, and not every kernel lets users mount a file system.
    #expect(
      result.output.replacing(": not here", with: ": ok") == """
        never changed: ok
        never read: ok
        nothing left: ok
        through links: ok
        way back: ok
        in time: ok
        without rights: ok
        without room: ok

        """)
  }
}
