public import Bytes

/// A parameter that a URL must have in its query.
public struct ParameterCriterion: Hashable, Sendable {
  /// The name, percent-decoded and compared by bytes.
  public var name: ByteString
  /// The value, percent-decoded and compared by bytes; `nil` for any.
  public var value: ByteString?

  /// Creates a criterion.
  public init(name: ByteString, value: ByteString? = nil) {
    self.name = name
    self.value = value
  }

  /// Reads `NAME`, or `NAME=VALUE`, parted at the first `=`; both as they are, not percent-encoded.
  public init(written text: String) throws(WrittenValueError) {
    let bytes = Array(text.utf8)
    let equals = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
    guard equals > 0 else {
      throw WrittenValueError(text, "names no parameter", hint: "write 'NAME' or 'NAME=VALUE'")
    }
    self.init(
      name: ByteString(Array(bytes[..<equals])),
      value: equals < bytes.endIndex ? ByteString(Array(bytes[(equals + 1)...])) : nil)
  }

  /// Whether a URL has the parameter; of a repeated one, one value is enough.
  public func holds(in url: ByteString) -> Bool {
    let values = URLQuery.values(of: name, in: url)
    return value.map { values.contains($0) } ?? !values.isEmpty
  }
}
