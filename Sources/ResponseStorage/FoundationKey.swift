/// What Foundation looks a stored response up by: host, port and path of the URL that was asked for.
///
/// Scheme, query, fragment and method are no part of it. Its text is `host NUL port NUL path NUL`, and a
/// part of the file's name in Base64. Source: `URLCache.swift` of swift-corelibs-foundation.
struct FoundationKey: Hashable {
  /// The text.
  let text: ByteString

  /// Reads the part of a file's name; `nil` if it is not the Base64 of a key.
  init?(base64: [UInt8]) {
    // The path may hold a NUL of its own, as `%00` is unescaped.
    guard let text = Base64.decode(base64), text.last == 0,
      text.dropLast().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).count == 3
    else { return nil }
    self.text = ByteString(text)
  }

  /// Makes the key of a URL; `nil` if it has no host.
  init?(of url: ByteString) {
    let reference = URLReference(url.bytes)
    guard var host = reference.authority?[...], !host.isEmpty else { return nil }
    if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
    var port = Array("-1".utf8)[...]
    let bracket = host.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex
    if let colon = host[bracket...].lastIndex(of: UInt8(ascii: ":")) {
      if colon + 1 < host.endIndex { port = host[(colon + 1)...] }
      host = host[..<colon]
    }
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
      host = host.dropFirst().dropLast()
    }
    var path = Self.unescaped(reference.path[...])
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    text = ByteString(Self.unescaped(host).map(\.asciiLowercased) + [0] + port + [0] + path + [0])
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
    let result = URLReference.unescaped(text)
    return String(validating: result, as: UTF8.self) == nil ? [] : result
  }
}
