/// Finds the places where the header of a record of some shapes can begin, by three bytes at each.
struct HeaderFilter: Sendable {
  /// Shapes, by their indexes.
  typealias Shapes = UInt64

  /// For each byte, the shapes of which the type of the first, second or third value can begin with it.
  private let first, second, third: [Shapes]

  /// The shapes of indexes, whose first value has a type of several bytes if it is long.
  private let indexes: Shapes

  /// The largest distance from the place of a header to the first byte that cannot be zero.
  private let reach: Int

  init(_ shapes: [RecordShape]) {
    precondition(shapes.count <= Shapes.bitWidth)
    // The first type of a row is NULL, or overwritten.
    first = Self.table(shapes) { $0.isIndex ? 0 : nil }
    second = Self.table(shapes) { _ in 1 }
    third = Self.table(shapes) { $0.isIndex ? nil : 2 }
    indexes = shapes.indices.reduce(0) { shapes[$1].isIndex ? $0 | 1 << Shapes($1) : $0 }
    reach =
      shapes.map { shape in
        1 + (shape.columns.firstIndex { !$0.types.contains(.null) } ?? shape.columns.count)
      }.max() ?? 1
  }

  /// Returns for each byte the shapes of which the type of a value can begin with it.
  ///
  /// - Parameter column: Returns the index of the value, or `nil` if any byte can be there.
  private static func table(
    _ shapes: [RecordShape], _ column: (RecordShape) -> Int?
  ) -> [Shapes] {
    (0...UInt8.max).map { byte in
      shapes.indices.reduce(0) { result, index in
        let isPossible = column(shapes[index]).map { canBegin(shapes[index], $0, with: byte) }
        return isPossible ?? true ? result | 1 << Shapes(index) : result
      }
    }
  }

  /// Whether the type of a value can begin with a byte.
  private static func canBegin(_ shape: RecordShape, _ column: Int, with byte: UInt8) -> Bool {
    guard shape.columns.indices.contains(column) else { return true }
    let column = shape.columns[column]
    // All types of several bytes are those of long text and BLOBs.
    guard byte < 0x80 else { return !column.types.isDisjoint(with: [.text, .blob]) }
    return SerialType(UInt64(byte)).map(column.allows) ?? false
  }

  /// Returns the shapes of which a header can begin at a place, with three bytes after it.
  @inline(__always)
  func shapes(at place: Int, in page: Span<UInt8>) -> Shapes {
    let (start, type) = (page[place + 1], page[place + 2])
    // A type of several bytes ends somewhere else.
    let allowed = start >= 0x80 ? second[Int(type)] | indexes : second[Int(type)]
    let shapes = allowed & first[Int(start)]
    return type >= 0x80 ? shapes : shapes & third[Int(page[place + 3])]
  }

  /// Returns the next place where a header can begin, from a place on.
  func next(in page: Span<UInt8>, _ start: Int, before end: Int) -> Int {
    var place = start
    while place + 3 < end {
      if page[place + 2] | page[place + 3] == 0,
        let jump = endOfZeros(in: page, place, before: end)
      {
        place = jump
        continue
      }
      if shapes(at: place, in: page) != 0 { return place }
      place += 1
    }
    return place
  }

  /// The number of bytes that are compared at once.
  private static let block = 64

  /// Returns where to go on in a run of zeros; `nil` if a header can begin at the place.
  private func endOfZeros(in page: Span<UInt8>, _ place: Int, before end: Int) -> Int? {
    var zeros = place + 1
    // The ends of overflow pages are long runs of zeros: these are compared many at once.
    while zeros + Self.block <= end {
      let bytes = page.extracting(zeros..<zeros + Self.block)
      var all: UInt8 = 0
      for index in 0..<Self.block { all |= bytes[index] }
      if all != 0 { break }
      zeros += Self.block
    }
    while zeros < end, page[zeros] == 0 { zeros += 1 }
    if zeros == end { return end }
    let next = zeros - reach
    return next > place ? next : nil
  }
}
