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

  static func isArchive(_ file: ArchiveFile) -> Bool {
    let names = file.zipNames
    // Native archives always begin with this member.
    guard names.first != Array(NativeArchive.headerName.utf8) else { return false }
    return names.contains {
      $0 == Array(WACZ.packageName.utf8) || $0.starts(with: WACZ.archiveFolder.utf8)
    }
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
