public import Bytes

/// What Foundation looks a stored response up by: host, port and path of the URL that was asked for.
///
/// Scheme, query, fragment and method are no part of it. Its text is `host NUL port NUL path NUL`, and a
/// part of the file's name in Base64. Source: `URLCache.swift` of swift-corelibs-foundation.
public struct FoundationKey: Hashable, Sendable {
  /// The text.
  public let text: ByteString

  /// Reads the text of a key, which ``StoredResponse/key`` is; `nil` if it is none.
  public init?(text: ByteString) {
    // The path may hold a NUL of its own, as `%00` is unescaped.
    guard text.bytes.last == 0, Self.parts(of: text).count == 3 else { return nil }
    self.text = text
  }

  /// Reads the part of a file's name; `nil` if it is not the Base64 of a key.
  init?(base64: [UInt8]) {
    guard let text = Base64.decode(base64) else { return nil }
    self.init(text: ByteString(text))
  }

  /// Makes the key of a URL; `nil` if it has no host.
  public init?(of url: ByteString) {
    let parts = URLParts(url.bytes)
    guard let authority = parts.authority, !authority.bytes.isEmpty else { return nil }
    var port = Array("-1".utf8)[...]
    if let written = authority.port, !written.isEmpty { port = Self.withoutZeros(written) }
    var host = authority.host
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
      host = host.dropFirst().dropLast()
    }
    var path = Self.unescaped(parts.path)
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    text = ByteString(Self.name(ofHost: host) + [0] + port + [0] + path + [0])
  }

  /// The host, the port, which is -1 if there is none, and the path.
  var parts: [ArraySlice<UInt8>] { Self.parts(of: text) }

  private static func parts(of text: ByteString) -> [ArraySlice<UInt8>] {
    text.bytes.dropLast().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
  }

  /// The key for people: `host:port/path`.
  public var shown: ByteString {
    var host = Array(parts[0])
    if host.contains(UInt8(ascii: ":")) { host = [0x5B] + host + [0x5D] }
    let hasPort = !parts[1].elementsEqual("-1".utf8)
    return ByteString(host + (hasPort ? [UInt8(ascii: ":")] + parts[1] : []) + parts[2])
  }

  /// A port as the number that it is.
  private static func withoutZeros(_ port: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = port.drop { $0 == UInt8(ascii: "0") }
    return digits.isEmpty ? port.suffix(1) : digits
  }

  /// A host as Foundation has it: escapes are carried out, and a name that is not of ASCII is in Punycode.
  private static func name(ofHost host: ArraySlice<UInt8>) -> [UInt8] {
    guard host.contains(where: { $0 > 0x7F }), let text = String(validating: host, as: UTF8.self)
    else { return unescaped(host).map(\.asciiLowercased) }
    return Punycode.host(text)
  }

  /// The key as a part of a file's name; `nil` if no file can be called so, and Foundation keeps such a
  /// response in memory only.
  ///
  /// - Parameter seconds: The part of the name before it.
  func fileName(storedAt seconds: Int64) -> FoundationFileName? {
    let base64 = Base64.encode(text.bytes)
    let name = Array("\(seconds).".utf8) + base64 + FoundationFileName.suffix
    guard !base64.contains(UInt8(ascii: "/")), name.count <= Self.longestName else { return nil }
    return FoundationFileName(name)
  }

  /// The most bytes that a file's name can have on Linux.
  private static let longestName = 255

  /// Text whose percent-escapes were carried out; nothing if it is then no UTF-8.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    let result = text.percentUnescaped()
    return String(validating: result, as: UTF8.self) == nil ? [] : result
  }
}
