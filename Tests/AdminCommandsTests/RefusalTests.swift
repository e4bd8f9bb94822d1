import Files
import ResponseStorage
import Testing

@testable import AdminCommands

/// Where the system refuses access, the hint says what to do on that system.
@Suite struct RefusalTests {
  @Test func `on macOS, a protected place is opened in the settings`() throws {
    let hint = CommandFailure.hint(onRefusal: FileError.protectionReason, on: .apple)
    #expect(try #require(hint).contains("Full Disk Access"))
  }

  @Test func `a missing permission has nothing to do with that`() {
    #expect(FileError.protectionReason == "Operation not permitted")
    #expect(CommandFailure.hint(onRefusal: "Permission denied", on: .apple) == nil)
    #expect(CommandFailure.hint(onRefusal: nil, on: .apple) == nil)
  }

  @Test func `other systems have no such settings`() {
    #expect(CommandFailure.hint(onRefusal: FileError.protectionReason, on: .freedesktop) == nil)
  }
}
