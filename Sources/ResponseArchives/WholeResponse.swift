import ResponseStorage

/// A response all of which is in memory, so that another thread can have it.
struct WholeResponse: Sendable {
  /// A part; without bytes, if there is nothing in it.
  private struct Part: Sendable {
    var name: RawResponse.Part.Name
    var isText: Bool
    var bytes: [UInt8]?
  }

  private var id: Int64
  private var columns: [RawResponse.Column]
  private var hasBodyFile: Bool
  private var inventions: [String]
  private var parts: [Part] = []

  /// Takes a response over; `nil` if a part of it is to be read piece by piece.
  init?(_ raw: RawResponse) {
    (id, columns, hasBodyFile) = (raw.id, raw.columns, raw.hasBodyFile)
    inventions = raw.inventions
    for part in raw.parts {
      switch part.contents {
      case .null: parts.append(Part(name: part.name, isText: part.isText, bytes: nil))
      case .bytes(let bytes):
        parts.append(Part(name: part.name, isText: part.isText, bytes: bytes))
      case .stream: return nil
      }
    }
  }

  /// The number of bytes of its parts.
  var byteCount: Int { parts.reduce(0) { $0 + ($1.bytes?.count ?? 0) } }

  /// The response.
  var raw: RawResponse {
    var raw = RawResponse(id: id)
    (raw.columns, raw.hasBodyFile, raw.inventions) = (columns, hasBodyFile, inventions)
    raw.parts = parts.map { part in
      .init(part.name, isText: part.isText, part.bytes.map { .bytes($0) } ?? .null)
    }
    return raw
  }
}
