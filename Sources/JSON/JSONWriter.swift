public import Bytes
import Files

/// A writer that appends JSON (RFC 8259) to a byte array.
///
/// An object or array is open while the closure that writes it runs, so everything is closed in the right order. The
/// writer adds commas, and line ends in ``Layout/lines``.
///
/// Use ``member(_:_:)`` in an object and ``value(_:)`` in an array.
public struct JSONWriter: Sendable {
  /// How array elements and object members are separated.
  public enum Layout: Sendable {
    /// Commas only.
    case inLine
    /// Commas, and each element, and the closing bracket after any, on its own line.
    case lines
  }

  /// What comes next.
  @usableFromInline
  enum Place: Sendable {
    /// The first element or member, or the document.
    case first
    /// A further element or member.
    case next
    /// The value of a member whose name has been written.
    case value
  }

  /// Which characters of a string are escaped.
  public let escaping: JSONEscaping

  /// The bytes written so far.
  public internal(set) var bytes: [UInt8]

  @usableFromInline var place: Place
  @usableFromInline var layout: Layout

  init(_ escaping: JSONEscaping, place: Place = .first, layout: Layout = .inLine) {
    (bytes, self.escaping, self.place, self.layout) = ([], escaping, place, layout)
  }

  /// Appends what `body` writes, usually one value.
  ///
  /// The writer uses the memory of the array, so nothing is copied.
  public static func append<Failure: Error>(
    to bytes: inout [UInt8], _ escaping: JSONEscaping,
    _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    var json = JSONWriter(escaping)
    // Swapping lends the array to the writer. A second reference to it would force a copy.
    swap(&json.bytes, &bytes)
    defer { swap(&json.bytes, &bytes) }
    try body(&json)
  }

  /// Returns what `body` writes, usually one document.
  public static func bytes<Failure: Error>(
    _ escaping: JSONEscaping, _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) -> [UInt8] {
    var json = JSONWriter(escaping)
    try body(&json)
    return json.bytes
  }

  /// Returns the bytes written so far and removes them, so that a long document is never in memory as a whole.
  public mutating func drain() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  /// Ends the line after a document; another document may follow.
  public mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    place = .first
  }

  /// Begins a new line inside an object or array that is otherwise on one line.
  public mutating func breakLine() {
    if place == .next { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\n"))
    // The comma has been written already.
    place = .first
  }

  // MARK: Objects and arrays

  /// Writes an object; `members` writes its members.
  @inlinable
  public mutating func object<Failure: Error>(
    _ layout: Layout = .inLine, _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    let outer = open(UInt8(ascii: "{"), layout)
    try members(&self)
    close(UInt8(ascii: "}"), outer)
  }

  /// Writes an array; `values` writes its values.
  @inlinable
  public mutating func array<Failure: Error>(
    _ layout: Layout = .inLine, _ values: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    let outer = open(UInt8(ascii: "["), layout)
    try values(&self)
    close(UInt8(ascii: "]"), outer)
  }

  /// Begins an array or object.
  ///
  /// - Returns: The layout of the enclosing array or object.
  @usableFromInline
  mutating func open(_ bracket: UInt8, _ layout: Layout) -> Layout {
    separate()
    bytes.append(bracket)
    let outer = self.layout
    (self.layout, place) = (layout, .first)
    return outer
  }

  /// Ends an array or object.
  @usableFromInline
  mutating func close(_ bracket: UInt8, _ outer: Layout) {
    assert(place != .value, "a member has a name and no value")
    // After the last element only: an empty array stays `[]`, without an empty line.
    if layout == .lines, place == .next { bytes.append(UInt8(ascii: "\n")) }
    bytes.append(bracket)
    (layout, place) = (outer, .next)
  }

  /// Writes the separator before the next value or name.
  @inline(__always)
  mutating func separate() {
    if place == .value { return }
    if place == .next { bytes.append(UInt8(ascii: ",")) }
    if layout == .lines { bytes.append(UInt8(ascii: "\n")) }
  }
}

extension JSONWriter {
  /// Writes the name of a member; its value must follow.
  ///
  /// - Parameter name: Printable ASCII without quotes and backslashes. A literal is copied in one go; a `String` takes
  ///   twice as long, because its storage has several forms.
  public mutating func key(_ name: StaticString) {
    assert(
      name.description.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
    // One copy of three literals takes less than half of a call for each byte around the name.
    let start: StaticString =
      switch (place == .next, layout) {
      case (true, .inLine): ",\""
      case (false, .inLine): "\""
      case (true, .lines): ",\n\""
      case (false, .lines): "\n\""
      }
    bytes.append(start, name, JSONNames.end)
    self.place = .value
  }

  /// Writes the name of a member; its value must follow.
  public mutating func key(named name: String) {
    string(name)
    endKey()
  }

  /// Writes the name of a member, whose value must follow. Writes nothing if the name is not UTF-8.
  ///
  /// - Returns: Whether the name is UTF-8.
  public mutating func key(utf8 name: [UInt8]) -> Bool {
    guard string(utf8: name) else { return false }
    endKey()
    return true
  }

  /// Writes the name of a member, whose value must follow. Invalid UTF-8 becomes U+FFFD.
  public mutating func key(repairing name: [UInt8]) {
    string(repairing: name)
    endKey()
  }

  /// Writes a name that was encoded before, by its index; the value must follow.
  public mutating func key(_ names: borrowing JSONNames, at index: Int) {
    write(names.bytes.span.extracting(names.places.span[index]))
    place = .value
  }

  /// Writes `null` as the value of a member, and the bytes in Base64 as a second member, named after the first with
  /// `_base64` appended.
  ///
  /// - Parameter name: The name of the first member.
  public mutating func base64(_ data: [UInt8], inPlaceOf name: StaticString) {
    null()
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(name)
    endBase64Key()
    base64(data)
  }

  /// Writes `null` as the value of a member, and the bytes in Base64 as a second member, named after the first with
  /// `_base64` appended.
  ///
  /// - Parameter index: The index of the name of the first member.
  public mutating func base64(
    _ data: [UInt8], inPlaceOf names: borrowing JSONNames, at index: Int
  ) {
    null()
    let name = names.bytes.span.extracting(names.places.span[index])
    write(name.extracting(droppingLast: JSONNames.end.utf8CodeUnitCount))
    endBase64Key()
    base64(data)
  }

  private mutating func endBase64Key() {
    bytes.append("_base64")
    bytes.append(JSONNames.end)
    place = .value
  }

  private mutating func endKey() {
    bytes.append(UInt8(ascii: ":"))
    place = .value
  }

  /// Writes an encoded name, or its beginning.
  ///
  /// - Parameter name: The encoded name, with the comma before it.
  private mutating func write(_ name: Span<UInt8>) {
    if layout == .lines { separate() }
    let isAfterComma = layout == .inLine && place == .next
    let name = isAfterComma ? name : name.extracting(droppingFirst: 1)
    bytes.append(addingCapacity: name.count) { (output: inout OutputSpan<UInt8>) in
      output.append(name)
    }
  }
}

extension JSONWriter {
  /// Writes a string.
  public mutating func string(_ text: String) {
    openString()
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    // Nearly all strings are plain, so copying first and checking the copy is cheaper.
    if !Self.isPlain(bytes.span.extracting(start...)) {
      bytes.removeSubrange(start...)
      _ = escaped(Array(text.utf8))
    }
    closeString()
  }

  /// Writes a string from bytes that are UTF-8. Writes nothing if they are not.
  ///
  /// - Returns: Whether the bytes are UTF-8. If not, the caller must write another value.
  public mutating func string(utf8 text: [UInt8]) -> Bool {
    let start = bytes.count
    openString()
    if Self.isPlain(text.span) {
      bytes.append(contentsOf: text)
    } else if !escaped(text) {
      // Removes the quote and the separator too, so that another value can take its place.
      bytes.removeSubrange(start...)
      return false
    }
    closeString()
    return true
  }

  /// Writes a string from bytes that should be UTF-8. Invalid UTF-8 becomes U+FFFD.
  public mutating func string(repairing text: [UInt8]) {
    if !string(utf8: text) { string(String(decoding: text, as: UTF8.self)) }
  }

  /// Writes a string in pieces; `pieces` writes each with ``characters(_:)``.
  @inlinable
  public mutating func string<Failure: Error>(
    pieces: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    openString()
    try pieces(&self)
    closeString()
  }

  /// Writes the next characters of a string from bytes that should be UTF-8. Invalid UTF-8 becomes U+FFFD.
  public mutating func characters(_ text: [UInt8]) {
    // A piece must not end within a character, as the two halves would become U+FFFD.
    if Self.isPlain(text.span) {
      bytes.append(contentsOf: text)
    } else if !escaped(text) {
      _ = escaped(Array(String(decoding: text, as: UTF8.self).utf8))
    }
  }

  /// Writes a string that needs no escaping, without checking it.
  public mutating func word(_ word: String) {
    openString()
    bytes.append(contentsOf: word.utf8)
    closeString()
  }

  /// Writes a string that needs no escaping, without checking it.
  public mutating func word(_ beginning: StaticString, _ rest: String = "") {
    openString()
    bytes.append(beginning)
    bytes.append(contentsOf: rest.utf8)
    closeString()
  }

  @usableFromInline
  mutating func openString() {
    separate()
    bytes.append(UInt8(ascii: "\""))
  }

  @usableFromInline
  mutating func closeString() {
    bytes.append(UInt8(ascii: "\""))
    place = .next
  }

  /// Writes a time in RFC 3339 format, in UTC, truncated to seconds.
  public mutating func time(_ moment: Timestamp) {
    openString()
    bytes.append(rfc3339: moment)
    closeString()
  }

  /// Writes bytes as a Base64 string.
  public mutating func base64(_ data: [UInt8]) {
    openString()
    Base64.encode(data, into: &bytes)
    closeString()
  }

  /// Whether the bytes need no escaping.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    PrintableASCII.isAll(of: text, but: UInt8(ascii: "\""), UInt8(ascii: "\\"))
  }

  /// Writes characters with escapes. Writes nothing if they are not UTF-8.
  ///
  /// - Returns: Whether the bytes are UTF-8.
  private mutating func escaped(_ text: [UInt8]) -> Bool {
    let start = bytes.count
    var index = 0
    while index < text.count {
      let plain = Self.plainLength(of: text, from: index)
      if plain > 0 {
        bytes.append(contentsOf: text[index..<(index + plain)])
        index += plain
        continue
      }
      let (scalar, length) = text.scalar(at: index)
      guard let scalar else {
        bytes.removeSubrange(start...)
        return false
      }
      switch scalar {
      case "\"": escape(UInt8(ascii: "\""))
      case "\\": escape(UInt8(ascii: "\\"))
      case "\n": escape(UInt8(ascii: "n"))
      case "\r": escape(UInt8(ascii: "r"))
      case "\t": escape(UInt8(ascii: "t"))
      case _ where scalar.value < 0x20 || escaping.isEscaped(scalar):
        // A character beyond U+FFFF takes two escapes, of a surrogate pair (RFC 8259 §7).
        for unit in scalar.utf16 { escape(unit) }
      default: bytes.append(contentsOf: text[index..<(index + length)])
      }
      index += length
    }
    return true
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(byte)
  }

  private mutating func escape(_ unit: UInt16) {
    escape(UInt8(ascii: "u"))
    for shift in [12, 8, 4, 0] as [UInt16] {
      let digit = UInt8(truncatingIfNeeded: unit >> shift) & 0xF
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : escaping.digitTen - 10 + digit)
    }
  }

  /// The number of bytes from an index on that are printable ASCII and need no escaping.
  private static func plainLength(of text: [UInt8], from start: Int) -> Int {
    let text = text.span
    var end = start
    while end < text.count, text[end] >= 0x20, text[end] < 0x7F, text[end] != UInt8(ascii: "\""),
      text[end] != UInt8(ascii: "\\")
    {
      end += 1
    }
    return end - start
  }
}
