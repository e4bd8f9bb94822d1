public import ResponseStorage

/// Leaves credentials out of what is exported: what identifies whoever made the request.
///
/// Response bodies are passed on as they are.
public struct CredentialFilter: Hashable, Sendable {
  /// The names of the header fields that are left out, in small letters.
  public var fieldNames: Set<ByteString>

  /// Creates a filter of the header fields that hold credentials by their definition (RFC 9110 §11, RFC 6265).
  public init() {
    fieldNames = [
      "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2",
    ]
  }

  /// The header fields without those that hold credentials; URLs in the values of others lose their user
  /// information.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    HeaderFields(
      headers.fields.compactMap { field in
        if fieldNames.contains(field.name.asciiLowercased) { return nil }
        return .init(name: field.name, value: url(field.value))
      })
  }

  /// A URL, or text with URLs in it, without the user information (RFC 3986 §3.2.1).
  public func url(_ url: ByteString) -> ByteString {
    let bytes = url.bytes
    guard bytes.contains(UInt8(ascii: "@")) else { return url }
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
    return ByteString(result)
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
