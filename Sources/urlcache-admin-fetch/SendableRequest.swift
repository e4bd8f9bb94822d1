import Fetching
import Foundation
#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif
import HTTPCaching

extension URLRequest {
  /// Creates the request that `URLSession` sends.
  ///
  /// - Throws: ``FetchFailure`` if the request cannot be sent exactly as specified.
  init(_ request: FetchRequest) throws(FetchFailure) {
    // The frames could come from a process that was taken over by a hostile cache. Other methods
    // could change something at the origin.
    guard request.method == Request.get || request.method == Request.head else {
      throw FetchFailure(.notSendable, "the method is neither GET nor HEAD")
    }
    // Foundation does not accept schemes in uppercase.
    let colon = request.url.firstIndex(of: UInt8(ascii: ":")) ?? 0
    let scheme = String(decoding: request.url[..<colon], as: UTF8.self).lowercased()
    guard let rest = String(validating: request.url[colon...], as: UTF8.self),
      let url = URL(string: scheme + rest), url.isFetchable
    else { throw FetchFailure(.notSendable, "the URL is not an http or https URL with a host") }
    self.init(
      // `Fetcher.watch` handles timeouts, because it knows when the reader is behind; the session does not.
      url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 86_400)
    httpMethod = String(decoding: request.method, as: UTF8.self)
    httpShouldHandleCookies = false
    for line in request.fields.lines {
      guard FieldName(line.name).isValid, !line.value.contains(where: { $0 < 0x20 && $0 != 0x09 }),
        let value = String(validating: line.value, as: UTF8.self)
      else { throw FetchFailure(.notSendable, "a header field is invalid") }
      addValue(value, forHTTPHeaderField: String(decoding: line.name, as: UTF8.self))
    }
    for name in Self.ownFields where !request.fields.contains(FieldName(Array(name.utf8))) {
      setValue(Self.leftOut, forHTTPHeaderField: name)
    }
  }

  /// The fields that Foundation and libcurl add themselves, and that may make an origin select another variant.
  private static let ownFields = [
    "Accept", "Accept-Encoding", "Accept-Language", "Connection", "User-Agent",
  ]

  /// A value that Foundation does not treat as empty, and for which libcurl omits the field.
  private static let leftOut = " "

  /// Returns the request with the header fields of the one that was redirected: `URLSession` may leave credentials out.
  func withFields(of redirected: URLRequest?) -> URLRequest {
    var request = self
    for (name, value) in redirected?.allHTTPHeaderFields ?? [:] {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return request
  }

  /// Returns the request without fields that may be meant for one origin only (RFC 9110 §15.4). A field of any name
  /// can contain a secret, so only known fields are kept.
  func forAnyOrigin() -> URLRequest {
    let known: Set = [
      "accept", "accept-charset", "accept-encoding", "accept-language", "connection",
      "if-modified-since", "if-none-match", "user-agent",
    ]
    var request = self
    for name in (allHTTPHeaderFields ?? [:]).keys where !known.contains(name.lowercased()) {
      request.setValue(nil, forHTTPHeaderField: name)
    }
    return request
  }
}

extension URL {
  /// Whether the scheme is `http` or `https`, and there is a host.
  var isFetchable: Bool {
    ["http", "https"].contains(scheme?.lowercased()) && bareHost.map { !$0.isEmpty } ?? false
  }

  /// The host, without the brackets of an IPv6 address.
  var bareHost: String? {
    host().map { host in
      host.utf8.first == UInt8(ascii: "[") ? String(host.dropFirst().dropLast()) : host
    }
  }

  /// Whether this and another URL have the same scheme, host and port (RFC 6454 §4).
  func hasOrigin(of other: URL?) -> Bool {
    scheme?.lowercased() == other?.scheme?.lowercased()
      && bareHost?.lowercased() == other?.bareHost?.lowercased() && port == other?.port
  }
}

extension HTTPURLResponse {
  /// Whether the response redirects to a URL.
  ///
  /// Foundation on Linux treats the path of a redirect to another scheme as one on the same origin.
  func sends(to url: URL) -> Bool {
    guard let location = value(forHTTPHeaderField: "Location"),
      let target = URL(string: location, relativeTo: self.url)?.absoluteURL
    else { return false }
    return target.isFetchable && target.hasOrigin(of: url)
  }
}

extension FetchHead {
  /// Creates a head from a response of `URLSession`; `nil` if it is not HTTP.
  init?(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return nil }
    let lines = response.allHeaderFields.map { name, value in
      FieldLine(name: Array("\(name)".utf8), value: Array("\(value)".utf8))
    }
    self.init(
      status: Int64(response.statusCode), url: Array((response.url?.absoluteString ?? "").utf8),
      fields: FieldSection(lines.sorted { $0.name.lexicographicallyPrecedes($1.name) }))
  }

  /// Whether the response has several lengths that differ, which is an error (RFC 9112 §6.3): libcurl would wait for the last one.
  var hasDifferentLengths: Bool {
    let values = fields.values(of: FieldName(Array("Content-Length".utf8)))
    // `URLSession` joins fields with the same name.
    let lengths = values.flatMap { $0.split(separator: UInt8(ascii: ",")) }
      .map { $0.filter { $0 != 0x20 && $0 != 0x09 } }
    return !fields.contains(FieldName(Array("Transfer-Encoding".utf8))) && Set(lengths).count > 1
  }
}

extension FetchFailure {
  /// Creates a failure from an error of `URLSession`.
  init(_ error: any Error) {
    let code = (error as? URLError)?.code
    let kind: Kind =
      switch code {
      case .timedOut: .timeout
      case .cannotFindHost, .dnsLookupFailed: .noSuchHost
      case .cancelled: .cancelled
      case .cannotConnectToHost, .networkConnectionLost, .notConnectedToInternet: .connection
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired:
        .security
      case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData,
        .cannotDecodeRawData, .unsupportedURL:
        .notHTTP
      case .badURL: .notSendable
      default: .other
      }
    // libcurl calls it so if a header section is larger than it accepts, and Foundation passes that on.
    let isOfHead = kind == .other && error.localizedDescription.hasPrefix("Out of memory")
    self.init(
      isOfHead ? .tooLarge : kind,
      isOfHead ? "the response headers are too long" : error.localizedDescription)
  }
}
