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

  /// Ends the line after a document; another may follow.
  public mutating func endLine() {
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

  // MARK: Names

  /// Writes the name of a member, whose value comes next.
  ///
  /// - Parameter name: A name of ours: printable ASCII that JSON has as it is.
  public mutating func key(_ name: String) {
    assert(name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    place = .value
  }

  /// Writes the name of a member, whose value comes next; nothing if it is not UTF-8.
  ///
  /// - Returns: Whether it is UTF-8.
  public mutating func key(utf8 name: [UInt8]) -> Bool {
    guard string(utf8: name) else { return false }
    bytes.append(UInt8(ascii: ":"))
    place = .value
    return true
  }

  /// Writes the name of a member, whose value comes next.
  ///
  /// - Parameter name: What a writer wrote: the name in its quotes, and the colon.
  @inline(__always)
  public mutating func key(written name: Span<UInt8>) {
    separate()
    bytes.append(addingCapacity: name.count) { (output: inout OutputSpan<UInt8>) in
      for index in name.indices { output.append(name[index]) }
    }
    place = .value
  }
}
