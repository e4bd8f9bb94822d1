/// What to decode of each response; what is not asked for costs nothing.
public struct Projection: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// ``StoredResponse/key``.
  public static let key = Self(rawValue: 1 << 0)
  /// ``StoredResponse/firstStored``.
  public static let firstStored = Self(rawValue: 1 << 1)
  /// ``StoredResponse/storagePolicy`` and ``StoredResponse/partition``.
  public static let storage = Self(rawValue: 1 << 2)
  /// ``StoredResponse/url``.
  public static let url = Self(rawValue: 1 << 3)
  /// ``StoredResponse/stored``.
  public static let stored = Self(rawValue: 1 << 4)
  /// ``StoredResponse/status``.
  public static let status = Self(rawValue: 1 << 5)
  /// ``StoredResponse/mimeType``.
  public static let mimeType = Self(rawValue: 1 << 6)
  /// ``StoredResponse/responseHeaders``.
  public static let responseHeaders = Self(rawValue: 1 << 7)
  /// ``StoredResponse/Request/method``.
  public static let method = Self(rawValue: 1 << 8)
  /// ``StoredResponse/Request/headers``.
  public static let requestHeaders = Self(rawValue: 1 << 9)
  /// All else of ``StoredResponse/request``.
  public static let requestDetails = Self(rawValue: 1 << 10)
  /// ``StoredResponse/bodySize``, ``StoredResponse/bodyLocation`` and
  /// ``StoredResponse/bodyFileName``.
  public static let body = Self(rawValue: 1 << 11)
  /// ``StoredResponse/userInfo``.
  public static let userInfo = Self(rawValue: 1 << 12)
  /// ``StoredResponse/protocolProperties``.
  public static let protocolProperties = Self(rawValue: 1 << 13)
  /// ``StoredResponse/notes`` on an entry as a whole and on what is decoded of it; its key, its body, its URL, its
  /// status, its media type, its method and the time that it was stored are decoded for that.
  public static let notes = Self(rawValue: 1 << 14)
  /// ``StoredResponse/freshnessFields``, or of ``StoredResponse/responseHeaders`` at least these fields.
  public static let freshnessFields = Self(rawValue: 1 << 15)
  /// ``StoredResponse/file``.
  public static let file = Self(rawValue: 1 << 16)

  /// Of ``StoredResponse/responseHeaders`` and ``StoredResponse/Request/headers`` at least the fields that
  /// caching depends on, which are those that `Vary` names too.
  public static let cachingFields = Self(rawValue: 1 << 17)

  /// ``notes`` on what nothing goes wrong by, such as a hash that nobody looks up.
  public static let consistency = Self(rawValue: 1 << 18)

  /// Everything but ``consistency``.
  public static let all = Self(rawValue: (1 << 18) - 1)

  /// Whatever needs the header fields of the response.
  static let ofResponseHeaders: Self = [.responseHeaders, .freshnessFields, .cachingFields]
  /// Whatever needs the header fields of the request.
  static let ofRequestHeaders: Self = [.requestHeaders, .cachingFields]
}
