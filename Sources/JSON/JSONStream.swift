/// An object in which a long array is written piece by piece, as its values come.
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

  /// Begins nothing yet.
  ///
  /// - Parameter layout: That of the array.
  public init(_ escaping: JSONEscaping, _ layout: JSONWriter.Layout = .lines) {
    (self.escaping, self.layout) = (escaping, layout)
  }

  /// Whether there is no value in the array.
  public var isEmpty: Bool { part == .start || part == .array && place == .first }

  /// Begins the object and, after the members that `members` writes, the array.
  public mutating func begin(
    _ array: String, in bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void
  ) {
    go(from: .start, to: .array)
    let layout = layout
    write(to: &bytes, .inLine) { json in
      _ = json.open(UInt8(ascii: "{"), .inLine)
      members(&json)
      json.key(array)
      _ = json.open(UInt8(ascii: "["), layout)
    }
  }

  /// Writes the next values of the array.
  public mutating func append(
    to bytes: inout [UInt8], _ values: (inout JSONWriter) -> Void
  ) {
    go(from: .array, to: .array)
    write(to: &bytes, layout, values)
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

  /// Writes the last members, and ends the object and the line.
  public mutating func end(
    in bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void = { _ in }
  ) {
    if part == .array { endArray(in: &bytes) { _ in } }
    go(from: .rest, to: .end)
    write(to: &bytes, .inLine) { json in
      members(&json)
      json.close(UInt8(ascii: "}"), .inLine)
      json.endLine()
    }
  }

  private mutating func go(from part: Part, to next: Part) {
    precondition(self.part == part, "the parts of a document come in their order")
    self.part = next
  }

  private mutating func write(
    to bytes: inout [UInt8], _ layout: JSONWriter.Layout, _ body: (inout JSONWriter) -> Void
  ) {
    var json = JSONWriter(escaping, place: place, layout: layout)
    swap(&json.bytes, &bytes)
    body(&json)
    swap(&json.bytes, &bytes)
    place = json.place
  }
}
