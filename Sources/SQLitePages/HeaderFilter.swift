/// Finds the places where the header of a record of some shapes can begin, by three bytes at each.
struct HeaderFilter: Sendable {
  /// For each byte, whether the type of the first, second or third value can begin with it: a bit for each.
  private let starts: [UInt8]

  /// The largest distance from the place of a header to the first byte that cannot be zero.
  private let reach: Int

  private static let firstOfIndex: UInt8 = 1
  private static let secondOfIndex: UInt8 = 2
  private static let second: UInt8 = 4
  private static let third: UInt8 = 8

  init(_ shapes: [RecordShape]) {
    var starts = [UInt8](repeating: 0, count: 256)
    for shape in shapes {
      let bits: [(column: Int, bit: UInt8)] =
        shape.isIndex
        ? [(0, Self.firstOfIndex), (1, Self.secondOfIndex)] : [(1, Self.second), (2, Self.third)]
      for (column, bit) in bits {
        for byte in starts.indices where Self.canBegin(shape, column, with: UInt8(byte)) {
          starts[byte] |= bit
        }
      }
    }
    self.starts = starts
    reach =
      shapes.map { shape in
        1 + (shape.columns.firstIndex { !$0.types.contains(.null) } ?? shape.columns.count)
      }.max() ?? 1
  }

  /// Whether the type of a value can begin with a byte. Types of more than one byte are not looked at.
  private static func canBegin(_ shape: RecordShape, _ column: Int, with byte: UInt8) -> Bool {
    guard shape.columns.indices.contains(column), byte < 0x80 else { return true }
    return SerialType(UInt64(byte)).map(shape.columns[column].allows) ?? false
  }

  /// Returns the next place where a header can begin, from a place on.
  func next(in page: Span<UInt8>, _ start: Int, before end: Int) -> Int {
    var place = start
    while place + 3 < end {
      let (one, other) = (page[place + 2], page[place + 3])
      if one | other == 0, let jump = endOfZeros(in: page, place, before: end) {
        place = jump
        continue
      }
      let bits = starts[Int(one)]
      // A type of several bytes ends somewhere else.
      if bits & Self.second != 0, one >= 0x80 || starts[Int(other)] & Self.third != 0 {
        return place
      }
      if bits & Self.secondOfIndex != 0, starts[Int(page[place + 1])] & Self.firstOfIndex != 0 {
        return place
      }
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
