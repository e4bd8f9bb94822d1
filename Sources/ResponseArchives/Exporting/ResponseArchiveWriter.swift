import ResponseStorage

/// Writes entries to an archive, one after the other.
protocol ResponseArchiveWriter: AnyObject {
  /// Queues an entry that is not decoded yet, to write it later.
  ///
  /// - Parameter number: The number of the entry, starting at 1.
  /// - Returns: `false` if the caller must decode the entry and append it now, which is the default.
  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool

  /// Writes an entry.
  ///
  /// - Returns: Why the entry was skipped: a clause without text from the cache, such as "it has no URL". `nil` if it
  ///   was written.
  /// - Throws: ``StoreError``, ``ArchiveError``, or any error from the consumer of the bytes.
  func append(_ entry: ExportedEntry) throws -> String?

  /// Finishes the archive.
  func finish(_ summary: ArchiveExport.Summary) throws
}

extension ResponseArchiveWriter {
  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool { false }
}
