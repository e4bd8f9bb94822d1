import Foundation
import Testing

@testable import Files

@Suite struct NewFileTests {
  @Test func `a device is never replaced, and no temporary file is left`() {
    #expect(throws: FileError.notReplaceable(at: "/dev/null")) {
      _ = try NewFile(at: "/dev/null", replacing: true)
    }
    #expect(!FileManager.default.fileExists(atPath: "/dev/null.partial"))
  }

  @Test func `a regular file is replaced only on request`() throws {
    let folder = try TemporaryDirectory(in: "/tmp")
    let path = folder.path + "/file"
    for (text, replacing) in [("old", false), ("new", true)] {
      var file = try NewFile(at: path, replacing: replacing)
      try file.write(Array(text.utf8))
      try file.commit(replacing: replacing)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    #expect(throws: FileError.self) { _ = try NewFile(at: path, replacing: false) }
  }
}
