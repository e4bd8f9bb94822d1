import Archive
import Bytes
import Files
import ResponseStorage

/// An archive file on disk, whose first bytes identify its kind.
final class ArchiveFile: Sendable {
  let path: String
  let status: FileStatus
  /// The folder of the file; `nil` if it has none.
  let folder: String?
  private let file: OpenFile

  /// The first bytes of the file, enough to identify its kind; fewer if the file is shorter.
  let start: [UInt8]

  /// Opens a file. Follows symbolic links, because the user chose the path.
  ///
  /// - Throws: ``FileError``, or ``ResponseArchiveError`` if it is not a regular file.
  convenience init(_ path: String) throws {
    try self.init(
      OpenFile(readingThroughLinks: path),
      folder: Directory.parent(of: path) ?? (path.utf8.first == UInt8(ascii: "/") ? "/" : "."))
  }

  /// Wraps an open file.
  ///
  /// - Throws: ``FileError``, or ``ResponseArchiveError`` if it is not a regular file.
  init(_ file: consuming OpenFile, folder: String? = nil) throws {
    self.folder = folder
    let path = file.path
    self.path = path
    status = try file.status()
    // A pipe or a device would block or never end, and archives are read more than once.
    guard status.kind == .regular else {
      throw ResponseArchiveError(.notAnArchive, at: path, "it is \(status.kind.rawValue)")
    }
    start = try file.read(ArchiveFormat.longestMark, at: 0)
    self.file = file
  }

  /// Returns the first bytes after undoing the compression of the whole file; those of the file itself if it is not
  /// compressed.
  ///
  /// - Parameter count: The number of bytes needed; the result may be shorter or longer.
  func decodedStart(_ count: Int) -> [UInt8] {
    // A compressed WARC and a compressed tar begin with the same bytes of gzip, so only the decoded
    // beginning can tell them apart.
    guard let coding = ContentCoding(ofDataBeginningWith: start[...]) else { return start }
    var decoded: [UInt8] = []
    var offset: Int64 = 0
    // Errors do not matter here: reading the whole file reports them.
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

  /// Thrown to stop decoding early.
  private struct EnoughRead: Error {}

  // libarchive would read the whole directory first, which for a million members takes seconds.
  /// The names of the first members of a zip file, as in its directory; empty if it is no zip file or has no readable
  /// directory.
  var zipNames: [[UInt8]] {
    guard ArchiveFormat(ofFileBeginningWith: start) == .zip else { return [] }
    var check = ZipDirectoryCheck(makeInput())
    return (try? check.names(upTo: 1_000)) ?? []
  }

  /// Reads bytes at an offset into the front of an array.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
    try checkSignals()
    return try file.read(into: &buffer, at: offset)
  }

  /// Returns the file as an input for libarchive.
  func makeInput() -> ArchiveInput {
    ArchiveInput(size: status.size.bytes) { [self] in try read(into: &$0, at: $1) }
  }

  /// Checks that the file was not modified since it was opened.
  func verifyUnchanged() throws {
    // The allocated size is not compared: it changes when the file system writes delayed allocations.
    let now = try file.status()
    guard (now.size, now.modified) == (status.size, status.modified) else {
      throw StoreError(.changedWhileReading, at: path, because: "another process wrote to it")
    }
  }
}

/// A kind of archive: how to recognise it by its first bytes, and how to open it.
protocol ArchiveKind: ResponseArchive, SendableMetatype {
  /// The name of the kind, for people: `HAR`.
  static var name: String { get }

  /// Whether a file begins like an archive of this kind.
  ///
  /// The file name does not matter. A file that begins like an archive but is broken counts as a damaged archive.
  static func isArchive(_ file: ArchiveFile) -> Bool

  /// Opens an archive.
  ///
  /// - Throws: ``ResponseArchiveError``, or ``FileError``.
  init(_ file: ArchiveFile, limits: ArchiveLimits) throws

  /// The file.
  var file: ArchiveFile { get }
}

extension ArchiveKind {
  func footprint() -> Footprint {
    var footprint = Footprint()
    footprint.databaseBytes = file.status.size
    footprint.allocatedBytes = file.status.allocatedSize
    return footprint
  }

  func finish() throws {
    try file.verifyUnchanged()
  }
}

/// Opens an archive of any kind.
public struct ArchiveOpening: Sendable {
  /// The kinds of archives, in the order in which they are tried.
  static let kinds: [any ArchiveKind.Type] = [
    HARArchive.self,
    WARCSource.self,
    WACZSource.self,
    NativeArchiveSource.self,
  ]

  /// The path of an archive.
  public var path: String

  /// The limits on the contents of the archive.
  public var limits: ArchiveLimits

  /// Creates an opening.
  public init(path: String, limits: ArchiveLimits = ArchiveLimits()) {
    self.path = path
    self.limits = limits
  }

  /// Whether the file begins like an archive, even one that ``open()`` rejects; `false` if it cannot be read.
  public var isArchive: Bool {
    guard let file = try? ArchiveFile(path) else { return false }
    return Self.kinds.contains { $0.isArchive(file) } || ForeignArchive(file) != nil
  }

  /// Copies the input to an unlinked file, because archives are read more than once, and opens that like ``open()``.
  ///
  /// - Parameter read: Reads the next bytes into the front of an array, and returns their number; 0 at the end.
  /// - Throws: ``ResponseArchiveError``, ``FileError``, or any error that `read` throws.
  public func openInput(reading read: (inout [UInt8]) throws -> Int) throws -> any ResponseArchive {
    var copy = try TemporaryFile()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = try read(&buffer), count > 0 { try copy.append(Array(buffer[..<count])) }
    let file = try OpenFile(reading: copy, as: "standard input")
    return try open(ArchiveFile(file))
  }

  /// Detects the kind of the archive by its first bytes, and opens it.
  ///
  /// - Throws: ``ResponseArchiveError``, `notAnArchive` if no kind matches; or ``FileError``.
  public func open() throws -> any ResponseArchive {
    try open(ArchiveFile(path))
  }

  private func open(_ file: ArchiveFile) throws -> any ResponseArchive {
    for kind in Self.kinds where kind.isArchive(file) { return try kind.init(file, limits: limits) }
    if let foreign = ForeignArchive(file) {
      throw ResponseArchiveError(.notAnArchive, at: file.path, foreign.fact, hint: foreign.hint)
    }
    let names = Self.kinds.map { $0.name }.joined(separator: ", ")
    throw ResponseArchiveError(.notAnArchive, at: file.path, "not an archive: expected \(names)")
  }
}
