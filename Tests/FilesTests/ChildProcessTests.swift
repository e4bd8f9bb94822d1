import Files
import Testing

@Suite struct ChildProcessTests {
  @Test func `a program echoes its input`() throws {
    let child = try ChildProcess("/bin/cat")
    var buffer = [UInt8](repeating: 0, count: 100)
    #expect(try child.read(into: &buffer, milliseconds: 1) == nil)
    try child.write([1, 2, 3])
    var seen: [UInt8] = []
    while seen.count < 3, let count = try child.read(into: &buffer, milliseconds: 10_000), count > 0
    {
      seen += buffer[..<count]
    }
    #expect(seen == [1, 2, 3])
  }

  @Test func `a program that exits ends its output`() throws {
    let child = try ChildProcess("/bin/true")
    var buffer = [UInt8](repeating: 0, count: 1)
    #expect(try child.read(into: &buffer, milliseconds: 10_000) == 0)
  }

  @Test func `a missing program is an error`() {
    let error = #expect(throws: FileError.self) { _ = try ChildProcess("/nowhere/program") }
    #expect(error?.kind == .notFound)
    #expect(error?.path == "/nowhere/program")
  }

  @Test func `this process finds its executable`() throws {
    let path = try #require(CurrentProcess.programPath)
    #expect(path.utf8.first == UInt8(ascii: "/"))
    #expect(try FileStatus.of(path).kind == .regular)
  }
}
