import Files
public import ResponseStorage

extension StoreDescription.Format {
  /// A file that entries were exported to.
  public static let archive = Self(rawValue: "archive")
}

/// An archive that is read as a store: what was exported, with the ids that it had.
///
/// Each look at it reads it from the beginning, up to what is looked for.
public final class ArchiveSource: RawResponseSource {
  private let file: ArchiveFile
  private let limits: ArchiveLimits
  private let header: ArchiveHeader
  private var checksumsDigest: String?

  public let description: StoreDescription

  /// Opens an archive, whose header is read.
  ///
  /// - Throws: ``NativeArchiveError``, or ``FileError``.
  public init(readingFrom path: String, limits: ArchiveLimits = ArchiveLimits()) throws {
    file = try ArchiveFile(path)
    self.limits = limits
    header = try ArchiveWalk(file, limits: limits).header()
    let version = header.source.userVersion
    description = StoreDescription(
      path: path, format: .archive,
      schemaVersion: version == 0 ? header.source.versionInTable : version,
      identity: file.status.identity,
      rawPropertyLists: RawResponse.Part.Name.allCases.filter { $0 != .body }.map(\.rawValue),
      notes: header.redacted.isEmpty ? [] : ["secrets were left out of the archive"])
  }

  /// Whether a file begins as an archive.
  public static func isArchive(_ path: String) -> Bool { ArchiveFile.isArchive(path) }

  public var rawLayout: RawLayout { header.source }

  /// Calls `body` with each entry.
  ///
  /// - Parameter verifyingBodies: Whether to compare the digests of bodies that nobody reads, too.
  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    let walk = try ArchiveWalk(file, limits: limits)
    _ = try walk.header()
    var isStopped = false
    while try walk.nextEntry(
      verifyingBody: verifyingBodies,
      { raw in
        let step = try body(raw)
        isStopped = step == .stop
        return step
      })
    {}
    if isStopped { return }
    guard checksumsDigest.map({ $0 == walk.checksumsDigest }) ?? true else {
      throw StoreError(.changedWhileReading, at: file.path)
    }
    checksumsDigest = walk.checksumsDigest
  }

  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    try forEachEntry(verifyingBodies: false) { raw in
      guard try isWanted(StoredResponse(decoding: raw, projection)) else { return .next }
      return try body(raw)
    }
  }

  public func forEachResponse(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try forEachEntry(verifyingBodies: false) { raw in
      try body(StoredResponse(decoding: raw, projection))
    }
  }

  public func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?
  {
    var result: StoredResponse?
    try withEntry(id) { result = StoredResponse(decoding: $0, projection) }
    return result
  }

  public func count() throws -> Int64 {
    var count: Int64 = 0
    try forEachEntry(verifyingBodies: false) { _ in
      count += 1
      return .next
    }
    return count
  }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    var reason: String? = "there is no such entry"
    try withEntry(id) { raw in
      reason = "the entry has no body"
      guard case .stream(let stream) = raw.part(.body)?.contents else { return }
      reason = nil
      try stream.read(read)
    }
    if let reason { throw StoreError(.noSuchResponse, at: file.path, because: reason) }
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? {
    var result: [UInt8]?
    try withEntry(id) { raw in
      switch RawResponse.Part.Name(rawValue: name).flatMap({ raw.part($0) })?.contents {
      case .bytes(let bytes): result = bytes
      case .stream(let stream) where name != RawResponse.Part.Name.body.rawValue:
        result = try stream.bytes()
      default: break
      }
    }
    return result
  }

  public func footprint() -> Footprint {
    var footprint = Footprint()
    footprint.databaseBytes = file.status.size
    footprint.allocatedBytes = file.status.allocatedSize
    return footprint
  }

  /// Does nothing: what is wrong with an archive ends the reading of it.
  public func forEachFinding(
    fully: Bool, now: Timestamp, _ body: (Finding) throws -> Void
  ) throws {}

  public func finish() throws {
    try file.verifyUnchanged()
  }

  private func withEntry(_ id: StoredResponse.ID, _ body: (RawResponse) throws -> Void) throws {
    guard case .row(let row) = id else { return }
    try forEachEntry(verifyingBodies: false) { raw in
      if raw.id > row { return .stop }
      guard raw.id == row else { return .next }
      try body(raw)
      return .stop
    }
  }
}

extension RawResponse.PartStream {
  /// Reads all of it; for what is known to fit into memory.
  func bytes() throws -> [UInt8] {
    var bytes: [UInt8] = []
    try read { reader in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try reader.read(into: &buffer), count > 0 { bytes += buffer[..<count] }
    }
    return bytes
  }
}
