/// The parts of each response to decode; other parts cost nothing, and must not be read.
public struct Projection: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// ``StoredResponse/key``.
  public static let key = Self(rawValue: 1 << 0)
  /// ``StoredResponse/firstStored``.
  public static let firstStored = Self(rawValue: 1 << 1)
  /// ``StoredResponse/storagePolicy``, ``StoredResponse/partition`` and ``StoredResponse/type``.
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
  /// The rest of ``StoredResponse/request``.
  public static let requestDetails = Self(rawValue: 1 << 10)
  /// ``StoredResponse/bodySize``, ``StoredResponse/bodyLocation`` and
  /// ``StoredResponse/bodyFileName``.
  public static let body = Self(rawValue: 1 << 11)
  /// ``StoredResponse/userInfo``.
  public static let userInfo = Self(rawValue: 1 << 12)
  /// ``StoredResponse/protocolProperties``.
  public static let protocolProperties = Self(rawValue: 1 << 13)
  /// ``StoredResponse/notes`` on the entry as a whole and on its decoded parts. Includes decoding its key, body, URL,
  /// status, media type, method and time of storing.
  public static let notes = Self(rawValue: 1 << 14)
  /// ``StoredResponse/freshnessFields``, or at least these fields in ``StoredResponse/responseHeaders``.
  public static let freshnessFields = Self(rawValue: 1 << 15)
  /// ``StoredResponse/file`` and ``StoredResponse/used``.
  public static let file = Self(rawValue: 1 << 16)

  /// At least the fields of ``StoredResponse/responseHeaders`` and ``StoredResponse/Request/headers`` that
  /// caching depends on, including those that `Vary` names.
  public static let cachingFields = Self(rawValue: 1 << 17)

  /// ``notes`` on harmless inconsistencies, such as the hash of a key, which no lookup uses.
  // It costs a hash for each key, so only a check asks for it.
  public static let consistency = Self(rawValue: 1 << 18)

  /// The header fields of both messages, if any of them is a finding of a check, is not printable ASCII, or is damaged;
  /// otherwise no fields may be decoded, for a message that has some.
  // Most entries pass a quick look, which takes a fraction of the time of decoding their fields.
  public static let screenedFields = Self(rawValue: 1 << 19)

  /// At least `Content-Type` and `Content-Encoding` of ``StoredResponse/responseHeaders``.
  public static let contentFields = Self(rawValue: 1 << 20)

  /// ``StoredResponse/share``. Includes ``body``.
  public static let share = Self(rawValue: 1 << 21)

  /// Everything, directly or as a part, except ``consistency``, ``screenedFields`` and ``share``.
  public static let all = Self(rawValue: (1 << 18) - 1)

  /// Everything that needs the header fields of the response.
  @usableFromInline static let ofResponseHeaders: Self = [
    .responseHeaders, .freshnessFields, .cachingFields, .screenedFields, .contentFields,
  ]
  /// Everything that needs the header fields of the request.
  @usableFromInline static let ofRequestHeaders: Self = [
    .requestHeaders, .cachingFields, .screenedFields,
  ]

  /// Whether header fields may be left out after a quick look; not if anything else needs them.
  var screensFields: Bool {
    contains(.screenedFields)
      && isDisjoint(with: [
        .responseHeaders, .freshnessFields, .cachingFields, .requestHeaders, .contentFields,
      ])
  }
}
