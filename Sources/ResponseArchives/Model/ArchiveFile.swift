import Archive
import Bytes
import Files
import ResponseStorage

/// An archive on disk, of a kind that its first bytes tell.
final class ArchiveFile {
  let path: String
  let status: FileStatus
  /// Where what cannot be read in its place is put.
  let temporaryFolder: String
  private let file: OpenFile

  /// The first bytes: as many as the marks of archives need, if there are so many.
  let start: [UInt8]

  /// Opens a file, also through symbolic links, as the user chose it.
  ///
  /// - Throws: ``FileError``, or ``ResponseArchiveError`` if it is no regular file.
  convenience init(_ path: String, temporaryFolder: String) throws {
    try self.init(OpenFile(readingThroughLinks: path), temporaryFolder: temporaryFolder)
  }

  /// Takes a file that is open.
  ///
  /// - Throws: ``FileError``, or ``ResponseArchiveError`` if it is no regular file.
  init(_ file: consuming OpenFile, temporaryFolder: String) throws {
    self.temporaryFolder = temporaryFolder
    let path = file.path
    self.path = path
    status = try file.status()
    guard status.kind == .regular else {
      throw ResponseArchiveError(.notAnArchive, at: path, "it is \(status.kind.rawValue)")
    }
    start = try file.read(ArchiveFormat.longestMark, at: 0)
    self.file = file
  }

  /// The first bytes of what comes out when the content coding of the whole file is undone, if it has
  /// one; those of the file if not.
  ///
  /// - Parameter count: How many bytes are wanted; there may be fewer or more.
  func decodedStart(_ count: Int) -> [UInt8] {
    guard let coding = ContentCoding(ofDataBeginningWith: start[...]) else { return start }
    var decoded: [UInt8] = []
    var offset: Int64 = 0
    // What is broken further on does not matter here.
    try? ContentDecoder(coding, limit: .max).decode { buffer in
      let read = try file.read(into: &buffer, at: offset)
      offset += Int64(read)
      return read
    } _: { piece in
      decoded += piece
      if decoded.count >= count { throw EnoughRead() }
    }
    return decoded
  }

  /// Ends a decoding before the end.
  private struct EnoughRead: Error {}

  /// Reads from a place on into the front of an array.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
    try checkSignals()
    return try file.read(into: &buffer, at: offset)
  }

  /// What libarchive reads the file by.
  func makeInput() -> ArchiveInput {
    ArchiveInput(size: status.size.bytes) { [self] in try read(into: &$0, at: $1) }
  }

  /// Makes sure that nobody has changed the file since it was opened.
  func verifyUnchanged() throws {
    // What the file system charges for a file changes when it gets around to writing it.
    let now = try file.status()
    guard (now.size, now.modified) == (status.size, status.modified) else {
      throw StoreError(.changedWhileReading, at: path, because: "somebody wrote to it meanwhile")
    }
  }
}
