/// Writes entries as an archive of some format, one after the other.
protocol ResponseArchiveWriter: AnyObject {
  /// Writes an entry.
  ///
  /// - Returns: Why the format cannot hold the entry, which then is not written: a clause without text from
  ///   the cache, such as "it has no URL". `nil` if it is written.
  /// - Throws: ``StoreError``, ``ArchiveError``, or whatever takes the bytes throws.
  func append(_ entry: ExportedEntry) throws -> String?

  /// Writes the end of the archive.
  func finish(_ summary: ArchiveExport.Summary) throws
}
