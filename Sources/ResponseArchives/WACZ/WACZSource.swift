import Archive
import Bytes
import Files
import ResponseStorage

/// A WACZ file, read as a store. Opening it verifies the digests of its WARC files.
final class WACZSource: WARCBackedArchive {
  static let name = "a WACZ"

  let file: ArchiveFile
  let description: StoreDescription
  let limits: ArchiveLimits
  let entries: WARCEntries

  /// The maximum number of members that are read to distinguish a WACZ from other zip files.
  private static let lookedAt = 1_000

  static func isArchive(_ file: ArchiveFile) -> Bool {
    guard ArchiveFormat(ofFileBeginningWith: file.start) == .zip,
      var zip = try? ArchiveReader(.zip, of: file.makeInput())
    else { return false }
    for _ in 0..<lookedAt {
      guard let member = try? zip.next() else { return false }
      let name = member.name ?? []
      // Native archives always begin with this member.
      if name == Array(NativeArchive.headerName.utf8) { return false }
      if name == Array(WACZ.packageName.utf8) || name.starts(with: WACZ.archiveFolder.utf8) {
        return true
      }
    }
    return false
  }

  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    self.file = file
    self.limits = limits
    let contents = try WACZContents(of: file, limits: limits)
    let entries = Result {
      try WARCEntries(
        contents.bytes, limits: limits, path: file.path, temporaryFolder: file.temporaryFolder)
    }
    // A wrong digest of the WACZ says more than what the index found in the same WARC file.
    try contents.wait()
    self.entries = try entries.get()
    description = StoreDescription(
      path: file.path, format: .archive, schemaVersion: nil, identity: file.status.identity)
  }
}
