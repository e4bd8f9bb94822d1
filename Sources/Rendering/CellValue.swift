import ResponseStorage

/// What a column says about one response, before any format has had its way with it.
enum CellValue {
  /// Nothing is known.
  case unknown
  case integer(Int64)
  /// A number of bytes.
  case byteCount(Int64)
  /// Text from the cache, secrets already masked.
  case text(ByteString)
  /// A word of our own.
  case word(String)
  case time(Timestamp)
  /// The seconds from a moment to now.
  case age(Timestamp)
  /// Header fields, secrets already masked.
  case headers(HeaderFields)
  case notes([StoredResponse.Note])
}

/// Takes the cells out of a response.
struct CellReader {
  var secrets: SecretPolicy
  var reader: SecretPolicy.Reader

  /// What `column` says about `response`.
  func value(of column: Column, in response: borrowing StoredResponse) -> CellValue {
    switch column {
    case .id:
      return switch response.id {
      case .row(let number): .integer(number)
      case .file(let name): .text(ByteString(name))
      }
    case .stored: return response.stored.map { .time($0) } ?? .unknown
    case .firstStored: return response.firstStored.map { .time($0) } ?? .unknown
    case .age: return response.stored.map { .age($0) } ?? .unknown
    case .status: return response.status.map { .integer($0) } ?? .unknown
    case .method: return text(response.request.method)
    case .size: return response.bodySize.map { .byteCount($0) } ?? .unknown
    case .disk:
      guard response.bodyLocation != .missing else { return .unknown }
      return response.bodySize.map { .byteCount($0) } ?? .unknown
    case .mime: return text(response.mimeType)
    case .url: return url(response.url)
    case .key: return url(response.key)
    case .scheme, .host, .path: return part(column, of: response.url)
    case .partition: return text(response.partition)
    case .bodyLocation: return response.bodyLocation.map { .word($0.rawValue) } ?? .unknown
    case .policy: return policy(response.storagePolicy)
    case .etag: return text(response.responseHeaders?.firstValue(named: "etag"))
    case .lastModified: return text(response.responseHeaders?.firstValue(named: "last-modified"))
    case .cacheControl: return text(response.responseHeaders?.firstValue(named: "cache-control"))
    case .date: return text(response.responseHeaders?.firstValue(named: "date"))
    case .expires: return text(response.responseHeaders?.firstValue(named: "expires"))
    case .requestHeaders: return headers(response.request.headers)
    case .responseHeaders: return headers(response.responseHeaders)
    case .notes: return .notes(response.notes)
    }
  }

  private func text(_ text: ByteString?) -> CellValue {
    text.map { .text($0) } ?? .unknown
  }

  private func url(_ url: ByteString?) -> CellValue {
    url.map { .text(secrets.url($0, for: reader)) } ?? .unknown
  }

  private func headers(_ headers: HeaderFields?) -> CellValue {
    headers.map { .headers(secrets.headers($0)) } ?? .unknown
  }

  private func policy(_ policy: StoredResponse.StoragePolicy?) -> CellValue {
    switch policy {
    case nil: .unknown
    case .allowed: .word("allowed")
    case .allowedInMemoryOnly: .word("memory-only")
    case .notAllowed: .word("not-allowed")
    case .unknown(let number): .integer(number)
    }
  }

  private func part(_ column: Column, of url: ByteString?) -> CellValue {
    guard let url, let parts = URLParts(secrets.url(url, for: reader)) else { return .unknown }
    let part =
      switch column {
      case .scheme: parts.scheme
      case .host: parts.host
      default: parts.path
      }
    return .text(ByteString(Array(part)))
  }
}

/// The parts of a URL that has an authority, as they are written in it.
struct URLParts {
  var scheme: ArraySlice<UInt8>
  /// Without user information and port.
  var host: ArraySlice<UInt8>
  /// Without query and fragment.
  var path: ArraySlice<UInt8>

  /// Takes a URL apart, or returns `nil` if there is no `://` in it.
  init?(_ url: ByteString) {
    let bytes = url.bytes
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 2 < bytes.count,
      bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
    else { return nil }
    scheme = bytes[..<colon]
    let rest = bytes[(colon + 3)...]
    let end =
      rest.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
    let slash = rest[..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
    path = rest[slash..<end]
    var authority = rest[..<slash]
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    let isLiteral = authority.first == UInt8(ascii: "[")
    let portStart =
      isLiteral ? (authority.firstIndex(of: UInt8(ascii: "]")) ?? slash) : authority.startIndex
    host = authority[..<(authority[portStart...].firstIndex(of: UInt8(ascii: ":")) ?? slash)]
  }
}
