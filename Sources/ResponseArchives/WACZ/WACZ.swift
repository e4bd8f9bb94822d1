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
