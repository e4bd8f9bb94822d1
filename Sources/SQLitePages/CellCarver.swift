/// Finds the cells of removed rows in bytes that no longer have a structure.
///
/// SQLite leaves the bytes of a removed row where they are. When it makes a free block of them, it writes over the first
/// four, which are the lengths of the cell and of its header, the id of the row, and sometimes the type of the first value.
public struct CellCarver: Sendable {
  /// A cell that was found.
  public struct Cell: Hashable, Sendable {
    /// The index of its shape.
    public var shape: Int

    /// The id of the row; `nil` if it is overwritten, or the cell is one of an index.
    public var rowID: Int64?

    /// The types of its values. The bytes of the header itself can be overwritten.
    public var header: RecordHeader

    /// Where the record is.
    public var payload: Payload

    /// Whether the end of the record is overwritten: the part of the page ends before it.
    public var isCut: Bool { payload.firstOverflowPage == 0 && payload.local.count < payload.size }
  }

  /// The shapes that cells can have.
  public let shapes: [RecordShape]

  /// The part of each page that SQLite uses.
  public let usableSize: Int

  /// What the bytes at a place must be.
  private let filter: HeaderFilter

  /// Creates a carver.
  public init(_ shapes: [RecordShape], usableSize: Int) {
    self.shapes = shapes
    self.usableSize = usableSize
    filter = HeaderFilter(shapes)
  }

  /// Calls `body` with each possible cell in a part of a page.
  ///
  /// - Parameters:
  ///   - region: The part of the page. Of a cell that ends after it, only the beginning is found.
  ///   - body: Looks at the content of a cell. Returns `nil` if it is none, and otherwise how many bytes of its record
  ///     belong to it for sure: these are not searched again. The rest can be overwritten by a newer cell.
  /// - Throws: An error of `body`.
  /// - Complexity: O(*n*) in the length of the region.
  public func forEachCell(
    in page: Span<UInt8>, _ region: Range<Int>, _ body: (Cell) throws -> Int?
  ) rethrows {
    var place = max(region.lowerBound, 0)
    while let next = try firstEnd(in: page, from: place, before: region.upperBound, body) {
      place = next
    }
  }

  /// Whether a part of a page has a possible cell that is wanted.
  ///
  /// - Parameter isWanted: Looks at the content of a cell.
  /// - Complexity: As for ``forEachCell(in:_:_:)``.
  public func hasCell(
    in page: Span<UInt8>, _ region: Range<Int>, where isWanted: (Cell) -> Bool
  ) -> Bool {
    firstEnd(in: page, from: max(region.lowerBound, 0), before: region.upperBound) {
      isWanted($0) ? 0 : nil
    } != nil
  }

  /// Returns where the search goes on after the first cell that `body` accepts; `nil` if it accepts none.
  @inline(__always)
  private func firstEnd(
    in page: Span<UInt8>, from first: Int, before last: Int, _ body: (Cell) throws -> Int?
  ) rethrows -> Int? {
    let end = min(last, usableSize, page.count)
    // The place where the header of a record would begin.
    var place = first
    while place + 3 <= end {
      // Nearly all places are left here.
      place = filter.next(in: page, place, before: end)
      if place + 3 > end { return nil }
      if let next = try find(in: page, place, from: first, before: end, body) {
        return next
      }
      place += 1
    }
    return nil
  }

  /// Tries all shapes at a place. Returns where to go on if a cell was accepted.
  @inline(__always)
  private func find(
    in page: Span<UInt8>, _ place: Int, from first: Int, before end: Int,
    _ body: (Cell) throws -> Int?
  ) rethrows -> Int? {
    let possible = place + 3 < end ? filter.shapes(at: place, in: page) : .max
    for index in shapes.indices where possible >> HeaderFilter.Shapes(index) & 1 == 1 {
      let shape = shapes[index]
      if let cell = wholeHeader(shape, index, in: page, at: place, from: first, before: end),
        let count = try body(cell)
      {
        return self.end(of: cell, count)
      }
    }
    for index in shapes.indices
    where possible >> HeaderFilter.Shapes(index) & 1 == 1 && shapes[index].canLoseRowID {
      for lost in 0...1 {
        if let cell = cutHeader(
          shapes[index], index, in: page, at: place, lost: lost, from: first, before: end),
          let count = try body(cell)
        {
          return self.end(of: cell, count)
        }
      }
    }
    return nil
  }

  /// Returns where the search goes on after a cell of which some bytes are its own.
  private func end(of cell: Cell, _ count: Int) -> Int {
    let local = cell.payload.local
    return count < local.count ? local.lowerBound + max(count, 1) : cell.payload.end
  }

  /// Reads the record whose complete header begins at a place.
  @inline(__always)
  private func wholeHeader(
    _ shape: RecordShape, _ index: Int, in page: Span<UInt8>, at place: Int, from first: Int,
    before end: Int
  ) -> Cell? {
    let length = Int(page[place])
    // The id of a row is not stored in its record: the first value is NULL.
    guard length < 128, length > shape.columns.count, place + length <= end,
      shape.isIndex || page[place + 1] == 0,
      shape.end(ofTypesIn: page, at: place + 1, from: 0, before: place + length) == place + length,
      let header = RecordHeader(page, at: place, before: end),
      let payload = payload(of: header, shape, in: page, at: place, before: end)
    else { return nil }
    let sizeLength = variableIntegerSize(UInt64(header.size))
    if shape.isIndex {
      guard place - sizeLength >= first, has(header.size, in: page, at: place - sizeLength) else {
        return nil
      }
      return Cell(shape: index, rowID: nil, header: header, payload: payload)
    }
    for idLength in 1...9 where place - idLength - sizeLength >= first {
      let start = place - idLength
      guard let (id, length) = page.variableInteger(at: start, before: place), length == idLength,
        idLength == variableIntegerSize(id), has(header.size, in: page, at: start - sizeLength)
      else { continue }
      return Cell(
        shape: index, rowID: Int64(bitPattern: id), header: header, payload: payload)
    }
    // The lengths before the header are overwritten.
    return shape.needsRowID
      ? nil : Cell(shape: index, rowID: nil, header: header, payload: payload)
  }

  /// Whether a payload size is stored at a place.
  private func has(_ size: Int, in page: Span<UInt8>, at place: Int) -> Bool {
    guard let (found, _) = page.variableInteger(at: place, before: page.count) else { return false }
    return found == UInt64(size)
  }

  /// Reads the record whose header would begin at a place, and of whose header the first byte is overwritten.
  ///
  /// - Parameter lost: The number of types that are overwritten, too.
  @inline(__always)
  private func cutHeader(
    _ shape: RecordShape, _ index: Int, in page: Span<UInt8>, at place: Int, lost: Int,
    from first: Int, before end: Int
  ) -> Cell? {
    let start = place + 1 + lost
    // The four lost bytes are in the region, and nothing else was before the types.
    guard start - 4 >= first, start < end, lost == 1 || page[start] == 0,
      let typesEnd = shape.end(ofTypesIn: page, at: start, from: lost, before: end)
    else { return nil }
    var types: [SerialType] = lost == 1 ? [.null] : []
    types.reserveCapacity(shape.columns.count)
    var position = start
    while position < typesEnd {
      guard let (code, size) = page.variableInteger(at: position, before: typesEnd),
        let type = SerialType(code)
      else { return nil }
      types.append(type)
      position += size
    }
    let header = RecordHeader(types, length: typesEnd - place)
    // The lengths of the cell, of the id and of the header and the lost types make four bytes.
    let idLength = 4 - variableIntegerSize(UInt64(header.size)) - 1 - lost
    guard header.length < 128, idLength >= 1,
      let payload = payload(of: header, shape, in: page, at: place, before: end)
    else { return nil }
    return Cell(shape: index, rowID: nil, header: header, payload: payload)
  }

  /// Returns where the payload of a record is, or the beginning of it before `end`.
  @inline(__always)
  private func payload(
    of header: RecordHeader, _ shape: RecordShape, in page: Span<UInt8>, at place: Int,
    before end: Int
  ) -> Payload? {
    Payload(
      of: UInt64(header.size), at: place, isIndex: shape.isIndex, in: page, usableSize: usableSize,
      before: end)
      ?? Payload(
        beginningOf: UInt64(header.size), at: place, isIndex: shape.isIndex,
        usableSize: usableSize, before: end)
  }
}
