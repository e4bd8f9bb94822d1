import ResponseStorage

/// An entry that is exported.
struct ExportedEntry {
  /// Its place among the entries that are exported, from 1 on.
  var number: Int64

  /// The entry as its store holds it, with all credentials but in a redacted native archive.
  var raw: RawResponse

  /// The entry, decoded, without the credentials that are to be left out.
  var response: StoredResponse

  /// Where there were credentials that are left out of ``raw``, in a native archive.
  var redacted: [String] = []

  /// What is odd about the entry, in words.
  var warnings: [String]

  /// The body; `nil` if there is none, or if bodies are left out.
  var body: Body? { raw.part(.body)?.content }
}
