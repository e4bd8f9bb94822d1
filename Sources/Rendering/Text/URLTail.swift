import Bytes

/// What a URL has after its authority.
enum URLTail {
  /// The path, the query and the fragment; the whole of what has no authority.
  static func of(_ url: ByteString) -> ByteString {
    let (bytes, slash) = (url.bytes, UInt8(ascii: "/"))
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 2 < bytes.count,
      bytes[colon + 1] == slash, bytes[colon + 2] == slash
    else { return url }
    let ends = [slash, UInt8(ascii: "?"), UInt8(ascii: "#")]
    let end = bytes[(colon + 3)...].firstIndex { ends.contains($0) } ?? bytes.count
    return ByteString(Array(bytes[end...]))
  }
}
