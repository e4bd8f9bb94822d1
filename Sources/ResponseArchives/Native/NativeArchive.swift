import Archive
import Files
import ResponseStorage

/// The archive format that keeps everything in a store: the names of its members.
///
/// See `share/doc/urlcache-admin/archives.md`.
public enum NativeArchive {
  /// The name of the format, in the header.
  static let format = "urlcache-archive"

  /// The version that is written. Readers refuse any other major version.
  static let (majorVersion, minorVersion) = (1, 0) as (Int64, Int64)

  /// The first member.
  static let headerName = "urlcache-archive.json"
  /// The second to last member.
  static let manifestName = "manifest.json"
  // So an unpacked archive can be verified with tools that every system has.
  /// The last member: a line for each other member, in order, in the format of `sha256sum`.
  static let checksumsName = "SHA256SUMS"
  /// The first member of an entry.
  static let documentName = "entry.json"

  /// Returns the folder of an entry, with a trailing slash.
  ///
  /// - Parameter number: The number of the entry in the archive, starting at 1.
  static func folder(_ number: Int64) -> String {
    // Ten digits keep the order of names the order of entries in all listings. A counter instead of
    // a URL or an id rules out collisions, long names and names that mean something to a file
    // system.
    let digits = String(number)
    return "entries/" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits + "/"
  }

  /// Appends the line of ``checksumsName`` for a member.
  ///
  /// - Parameter folder: The folder of the member, if any.
  static func appendChecksum(
    _ sha256: String, of name: String, in folder: String = "", to lines: inout [UInt8]
  ) {
    lines += sha256.utf8
    lines.append("  ")
    lines += folder.utf8
    lines += name.utf8
    lines.append("\n")
  }
}

extension RawResponse.Part.Name {
  /// The name of the part's member, in the folder of its entry.
  var memberName: String {
    switch self {
    case .responseObject: "response.plist"
    case .requestObject: "request.plist"
    case .protocolProperties: "proto-props.plist"
    case .userInfo: "user-info.plist"
    case .body: "body"
    }
  }
}

/// A native archive, read as a store: the exported entries, with their original ids.
///
/// Every access reads the archive from the beginning, up to the requested entry.
final class NativeArchiveSource: ArchiveKind {
  static let name = "tar or zip"

  let file: ArchiveFile
  let description: StoreDescription
  private let format: ArchiveFormat
  let limits: ArchiveLimits
  private let header: ArchiveHeader
  /// The digest of all members in the last complete pass.
  private let checksumsDigest = Monitor<String?>(nil)

  static func isArchive(_ file: ArchiveFile) -> Bool {
    switch ArchiveFormat(ofFileBeginningWith: file.start) {
    case nil: return false
    case .tar: return true
    case .zip:
      // A zip file without a readable directory is damaged, which reading it reports.
      let names = file.zipNames
      return names.isEmpty || names.contains(Array(NativeArchive.headerName.utf8))
    case .tarGzip, .tarZstd:
      // So is a compressed file that cannot be decoded.
      let start = file.decodedStart(ArchiveFormat.longestMark)
      return start.isEmpty || ArchiveFormat(ofFileBeginningWith: start) == .tar
    }
  }

  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    guard let format = ArchiveFormat(ofFileBeginningWith: file.start) else {
      throw ResponseArchiveError(.notAnArchive, at: file.path, "it is not \(Self.name)")
    }
    self.file = file
    self.format = format
    self.limits = limits
    // Only the header is read here. A damaged end is found when the entries are read, and
    // `--salvage` still gets those before it.
    header = try ArchiveWalk(file, format, limits: limits).header()
    // libarchive takes names from the headers before the members, other programs from the directory. If the two
    // differed, each would read another archive.
    if format == .zip { try Self.verifyDirectory(of: file) }
    let version = header.source.userVersion
    description = StoreDescription(
      path: file.path, format: .archive,
      schemaVersion: version == 0 ? header.source.versionInTable : version,
      identity: file.status.identity,
      rawPropertyLists: RawResponse.Part.Name.allCases.filter { $0 != .body }.map(\.rawValue),
      notes: (header.redacted.isEmpty ? [] : ["the archive was written without secrets"])
        + (header.bodies == .none
          ? ["the archive was written without bodies, so its entries cannot be imported"] : []))
  }

  private static func verifyDirectory(of file: ArchiveFile) throws {
    do {
      var check = ZipDirectoryCheck(file.makeInput())
      try check.run()
    } catch let error as ArchiveError {
      throw ResponseArchiveError(.damaged, at: file.path, "\(error)")
    }
  }

  var rawLayout: RawLayout { header.source }

  var restoresCaches: Bool { true }

  var bodies: ArchivedBodies { header.bodies }

  /// Empty: everything in a native archive came from a cache.
  var omissions: [ArchiveOmission] { [] }

  var independentReading: (@Sendable ((RawResponse) throws -> ScanStep) throws -> Void)? {
    { [file, format, limits, checksumsDigest] body in
      try Self.walk(
        ArchiveWalk(file, format, limits: limits), at: file.path, verifyingBodies: false,
        checksumsDigest, body)
    }
  }

  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    try Self.walk(
      ArchiveWalk(file, format, limits: limits), at: file.path, verifyingBodies: verifyingBodies,
      checksumsDigest, body)
  }

  /// Passes all entries to `body`, and compares the members with those of the last complete pass.
  private static func walk(
    _ walk: ArchiveWalk, at path: String, verifyingBodies: Bool,
    _ checksumsDigest: Monitor<String?>, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    _ = try walk.header()
    var isStopped = false
    while try walk.nextEntry(
      verifyingBody: verifyingBodies,
      { raw in
        WorkCounter.add()
        let step = try body(raw)
        isStopped = step == .stop
        return step
      })
    {}
    if isStopped { return }
    let digest = walk.checksumsDigest
    // The digest covers every member, so a different one means that the file changed since the last complete pass.
    let isSame = checksumsDigest.withLock { last in
      if let last, last != digest { return false }
      last = digest
      return true
    }
    guard isSame else { throw StoreError(.changedWhileReading, at: path) }
  }
}
