import Files
import Testing

@Suite struct FileSystemSyncTests {
  @Test func `waiting twice returns the same result`() throws {
    let folder = try TemporaryDirectory(in: "/tmp")
    let sync = FileSystemSync(of: folder.path)
    let isSynced = try sync.wait()
    #if os(Linux)
      #expect(isSynced)
    #else
      #expect(!isSynced)
    #endif
    #expect(try sync.wait() == isSynced)
  }

  @Test func `a folder that does not exist is an error`() throws {
    let folder = try TemporaryDirectory(in: "/tmp")
    let path = "\(folder.path)/missing"
    let error = #expect(throws: FileError.self) { _ = try FileSystemSync(of: path).wait() }
    #expect(error?.kind == .notFound)
    #expect(error?.path == path)
  }
}
