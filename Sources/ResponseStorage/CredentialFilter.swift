/// Leaves credentials out of what is exported: what identifies whoever made the request.
///
/// Response bodies are passed on as they are.
public struct CredentialFilter: Hashable, Sendable {
  /// The names of the header fields that are left out, in small letters.
  public var fieldNames: Set<ByteString>

  /// The names of the query parameters whose values are left out, in small letters.
  public var queryNames: Set<ByteString> = []

  /// Creates a filter of the header fields that hold credentials by their definition (RFC 9110 §11, RFC 6265).
  public init() {
    fieldNames = [
      "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2",
    ]
  }

  /// Whether a header field of this name is left out; blanks around it do not matter.
  func isSecret(_ name: ByteString) -> Bool { fieldNames.contains(name.trimmed.asciiLowercased) }

  /// The header fields without those that hold credentials; URLs in the values of others lose their user
  /// information.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    HeaderFields(
      headers.fields.compactMap { field in
        isSecret(field.name) ? nil : .init(name: field.name, value: url(field.value))
      })
  }

  /// A URL, or text with URLs in it, without the user information (RFC 3986 §3.2.1), and with nothing in
  /// place of the values of query parameters that are left out.
  public func url(_ url: ByteString) -> ByteString {
    ByteString(withoutValues(of: withoutUserInformation(url.bytes)))
  }

  private func withoutUserInformation(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(UInt8(ascii: "@")) else { return bytes }
    let slash = UInt8(ascii: "/")
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      result.append(bytes[index])
      index += 1
      guard result.suffix(2).elementsEqual([slash, slash]) else { continue }
      let end = bytes[index...].firstIndex { Self.endsAuthority($0) } ?? bytes.count
      if let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")) { index = at + 1 }
    }
    return result
  }

  /// Text in which the parameters that are left out have no values, wherever in it a query may be.
  private func withoutValues(of bytes: [UInt8]) -> [UInt8] {
    guard !queryNames.isEmpty, bytes.contains(UInt8(ascii: "=")) else { return bytes }
    var result: [UInt8] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex { Self.endsParameter($0) } ?? bytes.endIndex
      let parameter = bytes[start..<end]
      if let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
        queryNames.contains(
          ByteString(URLReference.unescaped(parameter[..<equals])).asciiLowercased)
      {
        result += parameter[...equals]
      } else {
        result += parameter
      }
      if end < bytes.endIndex { result.append(bytes[end]) }
      start = end + 1
    }
    return result
  }

  /// Whether a byte stands between parameters, or between a query and what is around it.
  private static func endsParameter(_ byte: UInt8) -> Bool {
    byte <= 0x20 || [0x3F, 0x26, 0x3B, 0x23, 0x22, 0x27, 0x3C, 0x3E, 0x2C].contains(byte)
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"), 0x20, 0x09]
      .contains(byte)
  }

  /// A response without credentials: its request has no body, and what an application or the URL loading
  /// system attached is gone, as any of it may be secret.
  public func response(_ response: StoredResponse) -> StoredResponse {
    var response = response
    response.key = response.key.map(url)
    response.url = response.url.map(url)
    response.partition = response.partition.map(url)
    response.responseHeaders = response.responseHeaders.map(headers)
    response.request.url = response.request.url.map(url)
    response.request.headers = response.request.headers.map(headers)
    response.request.body = nil
    response.userInfo = []
    response.protocolProperties = []
    return response
  }
}

extension ByteString {
  /// The text without spaces and tabs at its ends.
  fileprivate var trimmed: ByteString {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    guard let first = bytes.firstIndex(where: { !isBlank($0) }),
      let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return ByteString([]) }
    return first == 0 && last == bytes.count - 1 ? self : ByteString(Array(bytes[first...last]))
  }
}
