import Bytes
import Files
import PropertyLists

/// An open file of a Foundation store, which contains one archive.
struct FoundationFile: ~Copyable {
  private let file: OpenFile

  /// The version of the file when it was opened.
  let version: FileVersion

  /// The limits for a file without its body, which are far larger than anything Foundation writes. It may
  /// have more objects than are decoded.
  private static let fileLimits = PropertyListLimits(
    maximumBytes: 8 << 20, maximumVisits: 200_000)

  /// The limits for what is decoded of it.
  private static let archiveLimits = PropertyListLimits(
    maximumBytes: 10 << 20, maximumVisits: 20_000, maximumDecodedBytes: 8 << 20)

  /// Takes over a regular file.
  init(_ file: consuming OpenFile, version: FileVersion) {
    self.file = file
    self.version = version
  }

  /// Whether the file is far longer than the data written to it.
  var isSparse: Bool {
    get throws(FileError) { try file.isSparse() }
  }

  /// Passes the archive to `body`, without reading a large body.
  ///
  /// - Throws: ``PropertyListError``, ``FileError``, or any error of `body`.
  borrowing func withArchive<Result>(_ body: (borrowing KeyedArchive) throws -> Result) throws
    -> Result
  {
    let condensed = try CondensedPropertyList(size: version.size.bytes, limits: Self.fileLimits) {
      range in
      try file.read(range.count, at: range.lowerBound)
    }
    let list = try BinaryPropertyList(condensed.bytes.span, limits: Self.archiveLimits)
    return try body(KeyedArchive(list, leftOut: condensed.leftOut))
  }

  /// Returns a reader of the body of the response.
  ///
  /// - Throws: ``PropertyListError``, also if the archive has no body, or ``FileError``.
  consuming func bodyReader() throws -> BodyReader {
    let data = try withArchive { archive in
      // A large body was left out of the list, so its place in the file is known here, and not its
      // bytes.
      guard let place = try archive.member("data", of: archive.root),
        let data = try archive.data(place)
      else { throw PropertyListError(.notKeyedArchive, at: 0) }
      return data
    }
    switch data {
    case .bytes(let bytes): return BodyReader(bytes)
    case .left(let range): return BodyReader(file, range: range)
    }
  }

  /// Returns all bytes of the file, or `nil` if there are more than `limit`.
  borrowing func bytes(upTo limit: ByteCount) throws(FileError) -> [UInt8]? {
    guard version.size <= limit else { return nil }
    return try file.read(Int(version.size.bytes), at: 0)
  }
}
