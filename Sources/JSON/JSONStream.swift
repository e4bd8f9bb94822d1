/// A document with a long array that is written piece by piece.
///
/// Between the pieces, the owner of the byte array may write the bytes out and empty it. To write everything at once,
/// ``JSONWriter`` alone is simpler.
public struct JSONStream: Sendable {
  private enum Part {
    case start
    case array
    case rest
    case end
  }

  private let escaping: JSONEscaping
  private let layout: JSONWriter.Layout
  private var part = Part.start
  private var place = JSONWriter.Place.first

  /// The brackets that end what encloses the array, the innermost first.
  private var closers: [UInt8] = []

  private static let endOfObject = UInt8(ascii: "}")

  /// Creates a stream that has written nothing.
  ///
  /// - Parameter layout: The layout of the array.
  // A line for each element lets `grep`, `diff` and `head` work with documents of gigabytes.
  public init(_ escaping: JSONEscaping, _ layout: JSONWriter.Layout = .lines) {
    (self.escaping, self.layout) = (escaping, layout)
  }

  /// Whether the array has no values yet.
  public var isEmpty: Bool { part == .start || part == .array && place == .first }

  /// Begins a document that is an array.
  public mutating func begin(in bytes: inout [UInt8]) {
    go(from: .start, to: .array)
    // Copied, because `write` has exclusive access to `self` while the closure runs.
    let layout = layout
    write(to: &bytes, .inLine) { _ = $0.open(UInt8(ascii: "["), layout) }
  }

  /// Begins an object, writes the members from `members`, and begins the array.
  ///
  /// - Parameter outer: The name of the only member of the document, whose value is the object; `nil` if the object is
  ///   the document.
  public mutating func begin(
    _ array: StaticString, within outer: StaticString? = nil, in bytes: inout [UInt8],
    _ members: (inout JSONWriter) -> Void
  ) {
    go(from: .start, to: .array)
    let layout = layout
    closers = Array(repeating: Self.endOfObject, count: outer == nil ? 1 : 2)
    write(to: &bytes, .inLine) { json in
      if let outer {
        _ = json.open(UInt8(ascii: "{"), .inLine)
        json.key(outer)
      }
      _ = json.open(UInt8(ascii: "{"), .inLine)
      members(&json)
      json.key(array)
      _ = json.open(UInt8(ascii: "["), layout)
    }
  }

  /// Begins an object that ends with an array of one object, writes the members of both, and begins an array in the
  /// inner one.
  ///
  /// - Parameters:
  ///   - outer: The name of the array of one object.
  ///   - outerMembers: Writes the members of the document before it.
  public mutating func begin(
    _ array: StaticString, inOnlyElementOf outer: StaticString, in bytes: inout [UInt8],
    _ outerMembers: (inout JSONWriter) -> Void, _ members: (inout JSONWriter) -> Void
  ) {
    go(from: .start, to: .array)
    let layout = layout
    closers = [Self.endOfObject, UInt8(ascii: "]"), Self.endOfObject]
    write(to: &bytes, .inLine) { json in
      _ = json.open(UInt8(ascii: "{"), .inLine)
      outerMembers(&json)
      json.key(outer)
      _ = json.open(UInt8(ascii: "["), .inLine)
      _ = json.open(UInt8(ascii: "{"), .inLine)
      members(&json)
      json.key(array)
      _ = json.open(UInt8(ascii: "["), layout)
    }
  }

  /// Writes the next values of the array.
  public mutating func append<Failure: Error>(
    to bytes: inout [UInt8], _ values: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    go(from: .array, to: .array)
    try write(to: &bytes, layout, values)
  }

  /// Splits the array so that another thread can write the next values, at least one, while this stream writes those
  /// after them.
  ///
  /// - Returns: A stream that writes the next values and nothing else.
  public mutating func split() -> JSONStream {
    go(from: .array, to: .array)
    // The other stream writes at least one value, so this one continues with a comma.
    defer { place = .next }
    return self
  }

  /// Ends the array and writes members after it.
  public mutating func endArray(
    in bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void
  ) {
    go(from: .array, to: .rest)
    write(to: &bytes, layout) { json in
      json.close(UInt8(ascii: "]"), .inLine)
      members(&json)
    }
  }

  /// Begins a member after the array. Its value, one that another writer has produced, must be appended next.
  public mutating func beginMember(_ name: StaticString, in bytes: inout [UInt8]) {
    go(from: .rest, to: .rest)
    write(to: &bytes, .inLine) { json in
      json.key(name)
      json.written([])
    }
  }

  /// Writes the last members, and ends the document and its line.
  public mutating func end(
    in bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void = { _ in }
  ) {
    if part == .array { endArray(in: &bytes) { _ in } }
    go(from: .rest, to: .end)
    let closers = closers
    write(to: &bytes, .inLine) { json in
      members(&json)
      for bracket in closers { json.close(bracket, .inLine) }
      json.endLine()
    }
  }

  private mutating func go(from part: Part, to next: Part) {
    precondition(self.part == part, "the parts of a document come in their order")
    self.part = next
  }

  private mutating func write<Failure: Error>(
    to bytes: inout [UInt8], _ layout: JSONWriter.Layout,
    _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    var json = JSONWriter(escaping, place: place, layout: layout)
    // Swapping lends the array to the writer. A copy would cost as much as the whole document each time.
    swap(&json.bytes, &bytes)
    defer {
      swap(&json.bytes, &bytes)
      place = json.place
    }
    try body(&json)
  }
}
