import Bytes
import Files
import PropertyLists

/// The elements of an archived message.
extension BinaryPropertyList {
  /// Returns the array of an archived message, or `nil` if this is not one.
  func archivedElements() throws(PropertyListError) -> Elements? {
    guard let array = try value(forKey: arrayKey, in: root) else { return nil }
    return try elements(of: array)
  }

  /// Returns the version of an archived message, or `nil` if it has no integer version.
  func archivedVersion() throws(PropertyListError) -> Int64? {
    guard let version = try value(forKey: versionKey, in: root) else { return nil }
    return try integer(version)
  }

  /// Returns the string of an archived URL, which is a dictionary of the string and its type, 15, for a whole URL.
  func urlString(
    _ place: Int, of array: Elements
  ) throws(PropertyListError) -> Object? {
    guard let url = try element(place, of: array) else { return nil }
    return try value(forKey: urlStringKey, in: url)
  }

  /// Returns the body of a request, which is one element or an array of parts in another.
  func archivedBody(
    _ place: Int, _ partsPlace: Int?, of array: Elements
  ) throws(PropertyListError) -> [UInt8]? {
    var body: [UInt8]?
    if let data = try element(place, of: array) { body = try dataBytes(data) }
    guard let partsPlace, let object = try element(partsPlace, of: array),
      let parts = try elements(of: object)
    else { return body }
    for position in 0..<parts.count {
      guard let part = try element(position, of: parts), let bytes = try dataBytes(part) else {
        continue
      }
      // Schemas 201 to 203 store the body of a POST in parts, and older ones as one value.
      // According to the source of WebKit, a part can also be a string with the path of a file,
      // which is never opened.
      body = (body ?? []) + bytes
    }
    return body
  }

  /// Returns the text of a string, or `nil` for any other object.
  func text(_ object: Object) throws(PropertyListError) -> ByteString? {
    var memory: [UInt8] = []
    return try text(object, reusing: &memory)
  }

  /// Returns the text of a string in `memory`, which is consumed.
  func text(
    _ object: Object, reusing memory: inout [UInt8]
  ) throws(PropertyListError) -> ByteString? {
    if let ascii = try ascii(object) {
      memory.replaceAll(with: ascii)
    } else if try !utf8(object, into: &memory) {
      return nil
    }
    return ByteString(exchange(&memory, with: []))
  }

  /// Returns the text of a string, or `nil` for null tokens and for any other object.
  func textUnlessNull(_ object: Object) throws(PropertyListError) -> ByteString? {
    var memory: [UInt8] = []
    return try textUnlessNull(object, reusing: &memory)
  }

  /// Returns the text of a string in `memory`, which is consumed, or `nil` as above.
  func textUnlessNull(
    _ object: Object, reusing memory: inout [UInt8]
  ) throws(PropertyListError) -> ByteString? {
    let text = try text(object, reusing: &memory)
    // The first byte rules nearly all texts out, without a comparison of 31 bytes.
    if let text, text.bytes.first == UInt8(ascii: "_"), nullTokens.contains(text) { return nil }
    return text
  }

  /// Whether an object is a null token.
  func isNull(_ object: Object) throws(PropertyListError) -> Bool {
    try text(object).map { nullTokens.contains($0) } ?? false
  }

  /// Returns a copy of the bytes of a data object.
  func dataBytes(_ object: Object) throws(PropertyListError) -> [UInt8]? {
    guard let bytes = try data(object) else { return nil }
    var copy: [UInt8] = []
    copy.replaceAll(with: bytes)
    return copy
  }
}

/// The null tokens, which stand for a missing value.
// A property list has no null, so CoreFoundation writes these strings instead. Both are accepted in
// both kinds of message, as nothing else could be meant.
private let nullTokens: [ByteString] = [
  "__CFURLResponseNullTokenString__", "__CFURLRequestNullTokenString__",
]

private let arrayKey: PropertyListKey = "Array"
private let versionKey: PropertyListKey = "Version"
private let urlStringKey: PropertyListKey = "_CFURLString"
