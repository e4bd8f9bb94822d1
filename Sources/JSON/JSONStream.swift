/// A document with a long array, which is written piece by piece as its values come.
///
/// Between the pieces whoever owns the bytes may write them out and empty the array that they are in. What is written
/// at once is simpler with ``JSONWriter`` alone.
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

  /// The number of objects that the array is in.
  private var depth = 0

  /// Begins nothing yet.
  ///
  /// - Parameter layout: That of the array.
  public init(_ escaping: JSONEscaping, _ layout: JSONWriter.Layout = .lines) {
    (self.escaping, self.layout) = (escaping, layout)
  }

  /// Whether there is no value in the array.
  public var isEmpty: Bool { part == .start || part == .array && place == .first }

  /// Begins a document that is an array.
  public mutating func begin(in bytes: inout [UInt8]) {
    go(from: .start, to: .array)
    let layout = layout
    write(to: &bytes, .inLine) { _ = $0.open(UInt8(ascii: "["), layout) }
  }

  /// Begins an object and, after the members that `members` writes, the array.
  ///
  /// - Parameter outer: The name of the only member of the document, which the object is; `nil` if the object is the
  ///   document.
  public mutating func begin(
    _ array: StaticString, within outer: StaticString? = nil, in bytes: inout [UInt8],
    _ members: (inout JSONWriter) -> Void
  ) {
    go(from: .start, to: .array)
    let layout = layout
    depth = outer == nil ? 1 : 2
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

  /// Writes the next values of the array.
  public mutating func append<Failure: Error>(
    to bytes: inout [UInt8], _ values: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    go(from: .array, to: .array)
    try write(to: &bytes, layout, values)
  }

  /// Parts the array, so that another thread can write the values that come next, at least one; those after it can be
  /// written meanwhile.
  ///
  /// - Returns: The stream that writes the values that come next, and nothing else.
  public mutating func split() -> JSONStream {
    go(from: .array, to: .array)
    defer { place = .next }
    return self
  }

  /// Ends the array, and writes members after it.
  public mutating func endArray(
    in bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void
  ) {
    go(from: .array, to: .rest)
    write(to: &bytes, layout) { json in
      json.close(UInt8(ascii: "]"), .inLine)
      members(&json)
    }
  }

  /// Writes the last members, and ends the document and its line.
  public mutating func end(
    in bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void = { _ in }
  ) {
    if part == .array { endArray(in: &bytes) { _ in } }
    go(from: .rest, to: .end)
    let depth = depth
    write(to: &bytes, .inLine) { json in
      members(&json)
      for _ in 0..<depth { json.close(UInt8(ascii: "}"), .inLine) }
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
    swap(&json.bytes, &bytes)
    defer {
      swap(&json.bytes, &bytes)
      place = json.place
    }
    try body(&json)
  }
}
