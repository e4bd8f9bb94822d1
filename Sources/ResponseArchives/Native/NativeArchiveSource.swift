import Archive
import Files
import ResponseStorage

/// A native archive, read as a store: the exported entries, with their original ids.
///
/// Every access reads the archive from the beginning, up to the requested entry.
final class NativeArchiveSource: ArchiveKind {
  static let name = "a tar or zip"

  let file: ArchiveFile
  let description: StoreDescription
  private let format: ArchiveFormat
  let limits: ArchiveLimits
  private let header: ArchiveHeader
  private var checksumsDigest: String?

  static func isArchive(_ file: ArchiveFile) -> Bool {
    ArchiveFormat(ofFileBeginningWith: file.start) != nil
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
    { [file, format, limits] body in
      let walk = try ArchiveWalk(file, format, limits: limits)
      _ = try walk.header()
      while try walk.nextEntry(
        verifyingBody: false,
        { raw in
          WorkCounter.add()
          return try body(raw)
        })
      {}
    }
  }

  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    let walk = try ArchiveWalk(file, format, limits: limits)
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
    // The digest covers every member, so a different one means that the file changed since the last complete pass.
    guard checksumsDigest.map({ $0 == walk.checksumsDigest }) ?? true else {
      throw StoreError(.changedWhileReading, at: file.path)
    }
    checksumsDigest = walk.checksumsDigest
  }
}
