import Bytes
import ResponseStorage

/// An entry that is sent from one thread to another.
struct SentEntry: Sendable {
  /// The id of the entry.
  let id: Int64
  private let columns: [RawResponse.Column]
  private let parts: [(name: RawResponse.Part.Name, content: Content)]
  private let hasBodyFile: Bool

  private enum Content: Sendable {
    case missing
    case bytes([UInt8])
    /// The receiving thread reads it when it is wanted.
    case later
  }

  /// Takes from a response what can be sent.
  init(_ response: RawResponse) {
    (id, columns, hasBodyFile) = (response.id, response.columns, response.hasBodyFile)
    parts = response.parts.map { part in
      (part.name, part.content.map { $0.bytes.map { .bytes($0) } ?? .later } ?? .missing)
    }
  }

  /// The length of its texts and of what was read of its parts, in bytes.
  var byteCount: ByteCount {
    let texts = columns.reduce(0) { sum, column in
      switch column.value {
      case .text(let text): sum + text.bytes.count
      case .blob(let blob): sum + blob.count
      case .null, .integer, .real: sum
      }
    }
    return parts.reduce(ByteCount(texts)) { sum, part in
      if case .bytes(let bytes) = part.content { sum + ByteCount(bytes.count) } else { sum }
    }
  }

  /// Returns the response.
  ///
  /// - Parameter body: Returns the body, if it was not sent.
  func response(withBody body: () -> Body) -> RawResponse {
    var response = RawResponse(id: id)
    response.columns = columns
    response.hasBodyFile = hasBodyFile
    response.parts = parts.map { name, content in
      switch content {
      case .missing: .init(name, nil)
      case .bytes(let bytes): .init(name, Body(bytes))
      case .later: .init(name, body())
      }
    }
    return response
  }
}
