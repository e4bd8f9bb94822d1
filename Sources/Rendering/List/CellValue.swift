import Administration
import Bytes
import HTTPCaching
public import ResponseStorage

/// The value of a column for one response, before formatting.
enum CellValue {
  /// The value is unknown.
  case unknown
  case integer(Int64)
  /// A number of bytes.
  case byteCount(ByteCount)
  /// A share in whole percent.
  case percent(Int64)
  /// Text from the cache, secrets already masked.
  case text(ByteString)
  /// A word of this tool.
  case word(String)
  /// Freshness; `nil` if it is unknown.
  case freshness(ResponseFreshness.State?)
  case time(Timestamp)
  /// The time from which an age is measured.
  case age(Timestamp)
  /// A number of seconds.
  case duration(Int64)
  /// The seconds for which the response remains fresh, 0 or less if it is stale; `nil` if it has no lifetime.
  case remainingLifetime(Int64?)
  /// Words of this tool. Empty means `none`.
  case words([String])
  /// Header fields, secrets already masked.
  case headers(HeaderFields)
  case notes([StoredResponse.Note])
  /// The value of a property, secrets already masked.
  case property(StoredResponse.PropertyValue)
  /// Properties, secrets already masked.
  case properties([StoredResponse.Property])
}

/// Reads cells from a response.
struct CellReader {
  var secrets: SecretPolicy
  var reader: SecretPolicy.Reader
  /// The time for which freshness is evaluated.
  var now: Timestamp
  /// The expiry rules of apps, which affect freshness.
  var expiryRules: [UserInfoExpiry.Rule]

  /// Returns the value of `column` for `response`.
  func value(of column: Column, in response: borrowing StoredResponse) -> CellValue {
    switch column {
    case .id:
      return switch response.id {
      case .row(let number): .integer(number)
      case .file(let name): .text(name)
      }
    case .stored: return response.stored.map { .time($0) } ?? .unknown
    case .firstStored: return response.firstStored.map { .time($0) } ?? .unknown
    case .age: return response.stored.map { .age($0) } ?? .unknown
    case .status: return response.status.map { .integer($0) } ?? .unknown
    case .method: return text(response.request.method)
    case .size: return response.bodySize.map { .byteCount($0) } ?? .unknown
    case .disk:
      // The announced size of a missing body would be counted as space on disk that removing it
      // could free.
      guard response.bodyLocation != .missing else { return .unknown }
      return response.bodySize.map { .byteCount($0) } ?? .unknown
    case .mime: return text(response.mimeType)
    case .url, .responseURL: return url(response.url)
    case .requestURL: return url(response.requestedURL)
    case .key: return url(response.key)
    case .scheme, .host, .path: return part(column, of: response.url)
    case .partition: return text(response.partition)
    case .bodyLocation: return response.bodyLocation.map { .word($0.rawValue) } ?? .unknown
    case .received, .announced:
      guard let body = Exchange(of: response).flatMap({ ReceivedBody(of: $0) }) else {
        return .unknown
      }
      return column == .received
        ? .percent(body.wholePercent) : .byteCount(ByteCount(body.announced))
    case .policy: return policy(response.storagePolicy)
    case .etag: return text(response.responseHeaders?.firstValue(named: "etag"))
    case .lastModified: return text(response.responseHeaders?.firstValue(named: "last-modified"))
    case .cacheControl: return text(response.responseHeaders?.firstValue(named: "cache-control"))
    case .date: return text(response.responseHeaders?.firstValue(named: "date"))
    case .expires: return text(response.responseHeaders?.firstValue(named: "expires"))
    case .freshness, .ttl, .lifetime, .lifetimeSource, .currentAge, .expiresAt, .validators:
      return ResponseFreshness(of: response, at: now, rules: expiryRules)
        .map { value(of: column, in: $0) } ?? unknownFreshness(of: column)
    case .requestHeaders: return headers(response.request.headers)
    case .responseHeaders: return headers(response.responseHeaders)
    case .notes: return .notes(response.notes)
    case .confidence(let facts):
      return facts?.fact(of: response.id).map { .word($0.confidence.rawValue) } ?? .unknown
    case .found(let facts):
      return facts?.fact(of: response.id).map { .word($0.place.words) } ?? .unknown
    case .sidecarETag(let tags): return text(tags?.tag(of: response))
    case .userInfo(let key): return properties(response.userInfo, key)
    case .protocolProperties(let key): return properties(response.protocolProperties, key)
    }
  }

  private func value(of column: Column, in freshness: ResponseFreshness) -> CellValue {
    switch column {
    case .ttl: .remainingLifetime(freshness.remainingSeconds)
    case .lifetime: freshness.lifetimeSeconds.map { .duration($0) } ?? .unknown
    case .lifetimeSource: .word(freshness.freshness.lifetime.source.rawValue)
    case .currentAge: .duration(freshness.freshness.age.seconds)
    case .expiresAt: freshness.expiresAt.map { .time($0) } ?? .unknown
    case .validators: .words(freshness.validatorWords)
    // Programs get words that never change; those for people may be improved.
    default: reader == .people ? .freshness(freshness.state) : .word(freshness.state.rawValue)
    }
  }

  /// The value of a column for unknown freshness. People see a word wherever other entries have one.
  private func unknownFreshness(of column: Column) -> CellValue {
    guard reader == .people, column == .freshness || column == .ttl else { return .unknown }
    return .freshness(nil)
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

  /// The value of `key`, or all properties if `key` is `nil`.
  private func properties(
    _ properties: [StoredResponse.Property], _ key: ByteString?
  ) -> CellValue {
    guard let key else { return .properties(secrets.properties(properties)) }
    // Selected before masking, since masking every property of a large dictionary takes much longer
    // than finding one.
    let found = properties.filter { $0.key == key }.prefix(1)
    guard let value = secrets.properties(Array(found)).first?.value, value != .null else {
      return .unknown
    }
    return .property(value)
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
    guard let url else { return .unknown }
    // Masked as a whole before it is taken apart: whether something is a secret depends on where in
    // the URL it is.
    // The host and the scheme do not depend on what follows the authority.
    let shown = secrets.url(column == .path ? url : url.upToAuthority, for: reader)
    return switch column {
    case .scheme: text(CanonicalURL.scheme(of: shown))
    case .host: text(CanonicalURL.host(of: shown))
    default: text(CanonicalURL.path(of: shown))
    }
  }
}

extension ResponseFreshness {
  /// The validators of the response, with `weak-` before a weak one.
  fileprivate var validatorWords: [String] {
    var words: [String] = []
    if let entityTag { words.append(entityTag == .strong ? "etag" : "weak-etag") }
    if let lastModified {
      words.append(lastModified == .strong ? "last-modified" : "weak-last-modified")
    }
    return words
  }
}

extension ByteString {
  /// The beginning of a URL, up to the end of its authority; all of a URL without one.
  fileprivate var upToAuthority: ByteString {
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash + 1 < bytes.count,
      bytes[slash + 1] == UInt8(ascii: "/"),
      let end = bytes[(slash + 2)...].firstIndex(where: {
        $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      })
    else { return self }
    return ByteString(Array(bytes[..<end]))
  }
}

extension RecoveredPlace {
  /// The place in words, for example `free page 7, offset 28900` or `log frame 12, page 5, offset 51234`.
  public var words: String {
    let offset = "page \(page), offset \(offset)"
    switch (file, kind) {
    case (.log, .slack): return "slack in log frame \(frame ?? 0), \(offset)"
    case (.log, _): return "log frame \(frame ?? 0), \(offset)"
    case (.journal, _): return "journal, \(offset)"
    case (.database, .earlierPage): return "earlier version in the database, \(offset)"
    case (.database, .freePage): return "free \(offset)"
    case (.database, .lostPage): return "lost \(offset)"
    case (.database, .slack): return "slack in \(offset)"
    case (.database, .page): return offset
    }
  }
}
