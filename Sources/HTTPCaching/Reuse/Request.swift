import Bytes

/// The parts of a request that matter for caching (RFC 9111 §2).
public struct Request: Hashable, Sendable {
  /// The method, which is case-sensitive (RFC 9110 §9.1).
  public var method: [UInt8]

  /// The target URI, or `nil` if it is not to be compared (RFC 9110 §7.1).
  public var targetURI: [UInt8]?

  /// The header section.
  public var fields: FieldSection

  /// Creates a request.
  public init(
    method: [UInt8] = Request.get, targetURI: [UInt8]? = nil, fields: FieldSection = FieldSection()
  ) {
    self.method = method
    self.targetURI = targetURI
    self.fields = fields
  }

  /// `GET` (RFC 9110 §9.3.1).
  public static let get = Array("GET".utf8)

  /// `HEAD` (RFC 9110 §9.3.2).
  public static let head = Array("HEAD".utf8)

  /// `POST` (RFC 9110 §9.3.3).
  public static let post = Array("POST".utf8)

  /// Whether this is a `GET`.
  public var isGet: Bool { method.elementsEqual("GET".utf8) }

  /// Whether this is a `HEAD`.
  public var isHead: Bool { method.elementsEqual("HEAD".utf8) }

  /// The directives of the request (RFC 9111 §5.2.1).
  public var directives: RequestDirectives { RequestDirectives(fields) }

  /// The target URI without its fragment, which is not part of a cache key (RFC 9110 §7.1).
  var targetWithoutFragment: ArraySlice<UInt8>? {
    // CFNetwork keeps the fragment in its keys, but the target URI of a request has none (RFC 9110
    // §7.1).
    targetURI.map { URLParts($0).withoutFragment }
  }
}
