extension StoredResponse {
  /// A note on a response, which is listed nevertheless.
  public struct Note: Hashable, Sendable {
    /// The kind of note, for programs.
    public enum Code: String, Hashable, Sendable, CaseIterable {
      case noResponseRow = "no-response-row"
      case noBlobRow = "no-blob-row"
      case noBodyRow = "no-body-row"
      case undecodable
      case tooLarge = "too-large"
      case unknownVersion = "unknown-version"
      case wrongType = "wrong-type"
      case notUTF8 = "not-utf-8"
      case missingBodyFile = "missing-body-file"
      case badBodyFileName = "bad-body-file-name"
      case notARegularFile = "not-a-regular-file"
      case unreadableBodyFile = "unreadable-body-file"
      case badTime = "bad-time"
      case badFileName = "bad-file-name"
      case duplicateKey = "duplicate-key"
      case emptyFile = "empty-file"
      case fatalToFoundation = "fatal-to-foundation"
      case futureDated = "future-dated"
      case unreadableFile = "unreadable-file"
      case wrongHash = "wrong-hash"
    }

    /// The kind of note, for programs.
    public var code: Code

    /// The note for display: a clause without text from the cache.
    public var message: String

    /// Creates a note.
    public init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }
  }
}
