import ResponseStorage

/// Writes entries as an archive of some format, one after the other.
protocol ResponseArchiveWriter: AnyObject {
  /// Accepts an entry that is not decoded yet, to write it later.
  ///
  /// - Parameter number: The place of the entry, from 1 on.
  /// - Returns: `false` if the caller must decode and append it now, which is the default.
  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool

  /// Writes an entry.
  ///
  /// - Returns: Why the format cannot hold the entry, which then is not written: a clause without text from
  ///   the cache, such as "it has no URL". `nil` if it is written.
  /// - Throws: ``StoreError``, ``ArchiveError``, or whatever takes the bytes throws.
  func append(_ entry: ExportedEntry) throws -> String?

  /// Writes the end of the archive.
  func finish(_ summary: ArchiveExport.Summary) throws
}

extension ResponseArchiveWriter {
  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool { false }
}
