/// Writes JSON (RFC 8259) at the end of a byte array.
///
/// An object or an array is open as long as the closure that writes it runs, so that each is closed, and inside the one
/// that it began in. Commas come by themselves, and so do line ends in what is written in ``Layout/lines``.
///
/// What is a member needs a name: write ``member(_:_:)`` in an object, and ``value(_:)`` in an array.
public struct JSONWriter: Sendable {
  /// How the values of an array or the members of an object are set apart.
  public enum Layout: Sendable {
    /// By commas.
    case inLine
    /// By commas, and each begins a line, as what closes them does if there are any.
    case lines
  }

  /// What is written next.
  @usableFromInline
  enum Place: Sendable {
    /// The first value of an array or member of an object, or the document.
    case first
    /// Another.
    case next
    /// The value of a member whose name was written.
    case value
  }

  /// Which characters of a string are written as numbers.
  public let escaping: JSONEscaping

  /// What was written.
  public internal(set) var bytes: [UInt8]

  @usableFromInline var place: Place
  @usableFromInline var layout: Layout

  init(_ escaping: JSONEscaping, place: Place = .first, layout: Layout = .inLine) {
    (bytes, self.escaping, self.place, self.layout) = ([], escaping, place, layout)
  }

  /// Appends what `body` writes, a value as a rule.
  ///
  /// The memory of the array is used, and nothing is copied.
  public static func append<Failure: Error>(
    to bytes: inout [UInt8], _ escaping: JSONEscaping,
    _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    var json = JSONWriter(escaping)
    swap(&json.bytes, &bytes)
    defer { swap(&json.bytes, &bytes) }
    try body(&json)
  }

  /// What `body` writes, a document as a rule.
  public static func bytes<Failure: Error>(
    _ escaping: JSONEscaping, _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) -> [UInt8] {
    var json = JSONWriter(escaping)
    try body(&json)
    return json.bytes
  }

  /// Gives away what was written so far, so that a long document is never in memory as a whole.
  public mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  /// Ends the line after a document; another may follow.
  public mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    place = .first
  }

  /// Begins a line inside an object or an array that is in one line otherwise.
  public mutating func breakLine() {
    if place == .next { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\n"))
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

  /// Begins an array or an object.
  ///
  /// - Returns: The layout of what it is in.
  @usableFromInline
  mutating func open(_ bracket: UInt8, _ layout: Layout) -> Layout {
    separate()
    bytes.append(bracket)
    let outer = self.layout
    (self.layout, place) = (layout, .first)
    return outer
  }

  /// Ends an array or an object.
  @usableFromInline
  mutating func close(_ bracket: UInt8, _ outer: Layout) {
    assert(place != .value, "a member has a name and no value")
    if layout == .lines, place == .next { bytes.append(UInt8(ascii: "\n")) }
    bytes.append(bracket)
    (layout, place) = (outer, .next)
  }

  /// Writes what stands between what was written and what comes.
  @inline(__always)
  mutating func separate() {
    if place == .value { return }
    if place == .next { bytes.append(UInt8(ascii: ",")) }
    if layout == .lines { bytes.append(UInt8(ascii: "\n")) }
  }
}
