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
