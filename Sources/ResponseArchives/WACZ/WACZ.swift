/// The names of what is in a WACZ file (WACZ 1.1.1).
enum WACZ {
  /// The version of the format.
  static let version = "1.1.1"

  /// What describes the file: the list of all others, with their digests.
  static let packageName = "datapackage.json"
  /// The digest of the description.
  static let packageDigestName = "datapackage-digest.json"
  /// The folder of WARC files.
  static let archiveFolder = "archive/"
  /// The WARC file that is written, without its folder.
  static let warcName = "data.warc.gz"
  /// The index that is written.
  static let indexName = "indexes/index.cdx"
  /// The list of pages.
  static let pagesName = "pages/pages.jsonl"
}
