public import Bytes

extension StoredResponse {
  /// The key in a Foundation cache; `nil` in any other cache, where the key is a URL, and if the file name has none.
  public var foundationKey: FoundationKey? {
    guard case .file = id else { return nil }
    return key.flatMap { FoundationKey(text: $0) }
  }
}

/// The key under which Foundation finds a stored response: host, port and path of the requested URL.
///
/// Scheme, query, fragment and method are not part of it. Its text is `host NUL port NUL path NUL`, and is
/// part of the file name, in Base64. Source: `URLCache.swift` of swift-corelibs-foundation.
public struct FoundationKey: Hashable, Sendable {
  /// The text.
  public let text: ByteString

  /// Creates a key from the text in ``StoredResponse/key``; `nil` if it is not a key.
  public init?(text: ByteString) {
    // The path may contain another NUL, from an unescaped `%00`.
    guard text.bytes.last == 0, Self.parts(of: text).count == 3 else { return nil }
    self.text = text
  }

  /// Creates a key from the part of a file name; `nil` if it is not the Base64 of a key.
  init?(base64: [UInt8]) {
    guard let text = Base64.decode(base64) else { return nil }
    self.init(text: ByteString(text))
  }

  /// Creates the key of a URL; `nil` if it has no host.
  public init?(of url: ByteString) {
    let parts = URLParts(url.bytes)
    guard let authority = parts.authority, !authority.bytes.isEmpty else { return nil }
    // The default port is not filled in: `https://h/` and `https://h:443/` have different keys.
    var port = Array("-1".utf8)[...]
    if let written = authority.port, !written.isEmpty { port = Self.withoutZeros(written) }
    var host = authority.host
    // `URL.host` returns an IPv6 address without its brackets.
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
      host = host.dropFirst().dropLast()
    }
    var path = Self.unescaped(parts.path)
    // Foundation takes `url.path`, which has no trailing slash.
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    text = ByteString(Self.name(ofHost: host) + [0] + port + [0] + path + [0])
  }

  /// The host, the port (-1 if there is none), and the path.
  var parts: [ArraySlice<UInt8>] { Self.parts(of: text) }

  private static func parts(of text: ByteString) -> [ArraySlice<UInt8>] {
    // Host and port cannot contain a NUL, so the first two are the separators and all others belong
    // to the path.
    text.bytes.dropLast().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
  }

  /// The key for display: `host:port/path`.
  public var shown: ByteString {
    var host = Array(parts[0])
    if host.contains(UInt8(ascii: ":")) { host = [0x5B] + host + [0x5D] }
    let hasPort = !parts[1].elementsEqual("-1".utf8)
    return ByteString(host + (hasPort ? [UInt8(ascii: ":")] + parts[1] : []) + parts[2])
  }

  /// Returns a port without leading zeros.
  private static func withoutZeros(_ port: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = port.drop { $0 == UInt8(ascii: "0") }
    return digits.isEmpty ? port.suffix(1) : digits
  }

  /// Returns a host as Foundation normalizes it: without percent-escapes, and in Punycode if it is not ASCII.
  private static func name(ofHost host: ArraySlice<UInt8>) -> [UInt8] {
    // Foundation converts unescaped letters to Punycode, but leaves a percent-encoded host in UTF-8.
    guard host.contains(where: { $0 > 0x7F }), let text = String(validating: host, as: UTF8.self)
    else { return unescaped(host).map(\.asciiLowercased) }
    return HostName.ascii(text)
  }

  /// Returns the file name with this key; `nil` if no file can have that name, in which case Foundation keeps
  /// the response in memory only.
  ///
  /// - Parameter seconds: The part of the name before the key.
  func fileName(storedAt seconds: Int64) -> FoundationFileName? {
    let base64 = Base64.encode(text.bytes)
    let name = Array("\(seconds).".utf8) + base64 + FoundationFileName.suffix
    // A `/` in the Base64 would add a folder to the path.
    guard !base64.contains(UInt8(ascii: "/")), name.count <= Self.longestName else { return nil }
    return FoundationFileName(name)
  }

  /// The longest file name on Linux, in bytes.
  private static let longestName = 255

  /// Returns the text without percent-escapes; empty if it is then not UTF-8.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    let result = text.percentUnescaped()
    // `URL.path` is empty then, so all such URLs of a host have the key of an empty path.
    return String(validating: result, as: UTF8.self) == nil ? [] : result
  }
}
