import ResponseStorage

/// An entry to export.
struct ExportedEntry {
  /// The number of the entry in the archive, starting at 1.
  var number: Int64

  /// The entry as stored. It contains all credentials, except in a redacted native archive.
  var raw: RawResponse

  /// The decoded entry, without the credentials that are to be removed.
  var response: StoredResponse

  /// The places in ``raw`` that credentials were removed from; only for a native archive.
  var redacted: [String] = []

  /// Warnings about the entry, for people.
  var warnings: [String]

  /// The body; `nil` if there is none or bodies are omitted.
  var body: Body? { raw.part(.body)?.content }
}
