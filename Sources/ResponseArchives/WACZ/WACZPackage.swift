import Bytes
import Files
import JSON
import ResponseStorage

/// The package description of a WACZ file.
enum WACZPackage {
  /// A member.
  struct Resource {
    /// The path in the zip file.
    var path: ByteString
    /// The digest, as `algorithm:hexadecimal`.
    var hash: ByteString?
    /// The size, in bytes.
    var size: ByteCount?
  }

  /// Calls `body` with each member in the package description. They are not collected in an array, because an
  /// untrusted description can list more than fits into memory.
  ///
  /// - Throws: ``JSONError``, and any error that `body` throws.
  static func forEachResource(
    reading bytes: [UInt8], _ body: (Resource) throws -> Void
  ) throws {
    var json = JSONReader(bytes)
    var isThere = false
    try json.object { json, name in
      guard name == Array("resources".utf8), !isThere else { return try json.skip() }
      isThere = true
      try json.array { try body(try resource(&$0)) }
    }
    try json.end()
    guard isThere else { throw JSONError("the package has no resources", at: json.offset) }
  }

  private static func resource(_ json: inout JSONReader) throws -> Resource {
    var resource = Resource(path: "")
    try json.object { json, name in
      switch ByteString(name) {
      case "path": resource.path = ByteString(try json.string())
      case "hash": resource.hash = ByteString(try json.string())
      case "bytes": resource.size = ByteCount(try json.integer())
      default: try json.skip()
      }
    }
    return resource
  }

  /// Reads the digest of the package description from its document.
  ///
  /// - Throws: ``JSONError``.
  static func hash(reading bytes: [UInt8]) throws -> ByteString? {
    var json = JSONReader(bytes)
    var hash: ByteString?
    try json.object { json, name in
      if name == Array("hash".utf8) {
        hash = ByteString(try json.string())
      } else {
        try json.skip()
      }
    }
    try json.end()
    return hash
  }
}

/// The names of the members of a WACZ file (WACZ 1.1.1).
enum WACZ {
  /// The version of the format.
  static let version = "1.1.1"

  /// The package description: a list of the other members, with their digests.
  static let packageName = "datapackage.json"
  /// The digest of the package description.
  static let packageDigestName = "datapackage-digest.json"
  /// The end of the names of WACZ files in a WACZ file (the profile `multi-wacz-package`).
  static let fileEnding = ".wacz"
  /// The folder of WARC files.
  static let archiveFolder = "archive/"
  /// The name of the WARC file, without its folder.
  static let warcName = "data.warc.gz"
  /// The CDXJ index.
  static let indexName = "indexes/index.cdx"
  /// The list of pages.
  static let pagesName = "pages/pages.jsonl"

  /// Whether a member is a WACZ file by its name.
  static func isFile(_ name: [UInt8]) -> Bool {
    name.reversed().starts(with: fileEnding.utf8.reversed())
  }
}

/// A WACZ file, read as a store. Opening it verifies the digests of its WARC files.
final class WACZSource: WARCBackedArchive {
  static let name = "WACZ"

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
        contents.bytes, limits: limits, path: file.path)
    }
    // A wrong digest of the WACZ says more than what the index found in the same WARC file.
    try contents.wait()
    self.entries = try entries.get()
    description = StoreDescription(
      path: file.path, format: .archive, schemaVersion: nil, identity: file.status.identity)
  }
}
