import Bytes
import Files
import PropertyLists

/// What an archived message is made of.
extension BinaryPropertyList {
  /// What stands in the places of an archived message; `nil` if it is none.
  func archivedElements() throws(PropertyListError) -> Elements? {
    guard let array = try value(forKey: arrayKey, in: root) else { return nil }
    return try elements(of: array)
  }

  /// The version of an archived message; `nil` if it has none that is an integer.
  func archivedVersion() throws(PropertyListError) -> Int64? {
    guard let version = try value(forKey: versionKey, in: root) else { return nil }
    return try integer(version)
  }

  /// The string of an archived URL: a dictionary of it and the number 15, which says that the string is
  /// the whole URL.
  func urlString(
    _ place: Int, of array: Elements
  ) throws(PropertyListError) -> Object? {
    guard let url = try element(place, of: array) else { return nil }
    return try value(forKey: urlStringKey, in: url)
  }

  /// The body of a request, which stands in one place or, in parts, in another.
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
      body = (body ?? []) + bytes
    }
    return body
  }

  /// The text of a string; `nil` for what is no string.
  func text(_ object: Object) throws(PropertyListError) -> ByteString? {
    var memory: [UInt8] = []
    return try text(object, reusing: &memory)
  }

  /// The text of a string, in `memory` that it takes for itself.
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

  /// The text of a string; `nil` for the strings that stand for nothing, and for what is no string.
  func textUnlessNull(_ object: Object) throws(PropertyListError) -> ByteString? {
    var memory: [UInt8] = []
    return try textUnlessNull(object, reusing: &memory)
  }

  /// The same, in `memory` that it takes for itself.
  func textUnlessNull(
    _ object: Object, reusing memory: inout [UInt8]
  ) throws(PropertyListError) -> ByteString? {
    let text = try text(object, reusing: &memory)
    if let text, text.bytes.first == UInt8(ascii: "_"), nullTokens.contains(text) { return nil }
    return text
  }

  /// Whether an object is a string that stands for nothing.
  func isNull(_ object: Object) throws(PropertyListError) -> Bool {
    try text(object).map { nullTokens.contains($0) } ?? false
  }

  /// A copy of the bytes of a data object.
  func dataBytes(_ object: Object) throws(PropertyListError) -> [UInt8]? {
    guard let bytes = try data(object) else { return nil }
    var copy: [UInt8] = []
    copy.replaceAll(with: bytes)
    return copy
  }
}

/// The strings that stand for nothing.
private let nullTokens: [ByteString] = [
  "__CFURLResponseNullTokenString__", "__CFURLRequestNullTokenString__",
]

private let arrayKey: PropertyListKey = "Array"
private let versionKey: PropertyListKey = "Version"
private let urlStringKey: PropertyListKey = "_CFURLString"
