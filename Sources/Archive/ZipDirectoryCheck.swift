/// A comparison of the directory of a zip archive with the headers of its members.
///
/// libarchive takes names and methods from the headers, other programs from the directory; where they differ, each
/// reads another archive. libarchive compares sizes and checksums itself.
public struct ZipDirectoryCheck {
  private let input: ArchiveInput
  // The end record with the longest comment, and the locator in front of it, must fit.
  private var buffer = [UInt8](repeating: 0, count: 20 + 22 + Int(UInt16.max))
  // The name follows the 30 bytes of the header, and has less than 40 in our archives. One that
  // does not fit counts as different, so nothing is taken for equal unread.
  private var header = [UInt8](repeating: 0, count: 1 << 10)

  /// A part of the directory: bytes from an offset of the file.
  private var window: ArraySlice<UInt8> = []
  private var place: Int64 = 0

  /// Creates a check for a file.
  public init(_ input: ArchiveInput) {
    self.input = input
  }

  /// The compared properties of a member.
  private struct Member {
    var place: UInt64
    var method: Int
    var isEncrypted: Bool
    var name: ArraySlice<UInt8>
  }

  /// Compares all members.
  ///
  /// - Throws: ``ArchiveError`` if they differ, or if there is no directory.
  public mutating func run() throws {
    place = try start()
    window = []
    while let member = try next() { try compare(member) }
  }

  /// Returns the names of the first members in the directory, without reading the rest of it.
  ///
  /// - Throws: ``ArchiveError`` if there is no directory, or its start is malformed.
  public mutating func names(upTo count: Int) throws -> [[UInt8]] {
    place = try start()
    window = []
    var names: [[UInt8]] = []
    while names.count < count, let member = try next() { names.append(Array(member.name)) }
    return names
  }

  /// Finds the directory (APPNOTE §4.3.16, §4.3.14).
  private mutating func start() throws -> Int64 {
    let tailSize = min(input.size, Int64(buffer.count))
    try fill(from: input.size - tailSize)
    let mark = Array("PK\u{5}\u{6}".utf8)
    // The end record is last; only a comment follows it, whose length the record contains.
    // The comment may contain another end record, and programs differ in which one they take. Only
    // one whose comment ends with the file is accepted.
    let end = window.indices.dropLast(21).last { window[$0...].starts(with: mark) }
    guard let end, window[end...].number(at: 20, bytes: 2) + 22 == window.endIndex - end else {
      throw ArchiveError("the zip archive has no end record")
    }
    // A zip64 archive has a locator before the end record, which leads to a larger record.
    let locator = window[..<end].suffix(20)
    guard locator.count == 20, locator.starts(with: "PK\u{6}\u{7}".utf8) else {
      return Int64(window[end...].number(at: 16, bytes: 4))
    }
    guard let large = Int64(exactly: locator.long(at: 8)) else { throw Self.broken }
    try fill(from: large)
    guard window.count >= 56, window.starts(with: "PK\u{6}\u{6}".utf8),
      let start = Int64(exactly: window.long(at: 48))
    else { throw Self.broken }
    return start
  }

  /// Reads the next record of the directory (APPNOTE §4.3.12); `nil` after the last one.
  private mutating func next() throws -> Member? {
    try require(4)
    if window.starts(with: "PK\u{5}\u{6}".utf8) || window.starts(with: "PK\u{6}\u{6}".utf8) {
      return nil
    }
    try require(46)
    guard window.starts(with: "PK\u{1}\u{2}".utf8) else { throw Self.broken }
    let (nameSize, extraSize) = (window.number(at: 28, bytes: 2), window.number(at: 30, bytes: 2))
    let size = 46 + nameSize + extraSize + window.number(at: 32, bytes: 2)
    try require(min(size, buffer.count))
    guard window.count >= size else { throw Self.broken }
    let record = window.prefix(size)
    window = window.dropFirst(size)
    place += Int64(size)
    return Member(
      place: try Self.place(record, extra: record.dropFirst(46 + nameSize).prefix(extraSize)),
      method: record.number(at: 10, bytes: 2),
      isEncrypted: record.number(at: 8, bytes: 2) & 1 != 0,
      name: record.dropFirst(46).prefix(nameSize))
  }

  /// Returns the offset of a member, which may be in the zip64 extra field (APPNOTE §4.5.3).
  private static func place(
    _ record: ArraySlice<UInt8>, extra: ArraySlice<UInt8>
  ) throws(ArchiveError) -> UInt64 {
    let none = Int(UInt32.max)
    let short = record.number(at: 42, bytes: 4)
    guard short == none else { return UInt64(short) }
    // In the extra field, the sizes precede the offset if they are there.
    let offset = [20, 24].count { record.number(at: $0, bytes: 4) == none } * 8
    var rest = extra
    while rest.count >= 4 {
      let size = rest.number(at: 2, bytes: 2)
      let field = rest.dropFirst(4).prefix(size)
      if rest.number(at: 0, bytes: 2) == 1, field.count >= offset + 8 {
        return field.long(at: offset)
      }
      rest = rest.dropFirst(4 + size)
    }
    throw broken
  }

  /// Compares a member with its header (APPNOTE §4.3.7).
  private mutating func compare(_ member: Member) throws {
    guard member.place < UInt64(input.size) else { throw Self.broken }
    let count = try input.readFile(&header, Int64(member.place))
    let found = header[..<count]
    // Sizes and checksums are not compared here: libarchive writes them only after the data
    // (APPNOTE §4.4.4), and on reading compares them itself.
    guard found.starts(with: "PK\u{3}\u{4}".utf8), count >= 30,
      found.number(at: 8, bytes: 2) == member.method,
      found.number(at: 6, bytes: 2) & 1 == (member.isEncrypted ? 1 : 0),
      found.dropFirst(30).prefix(found.number(at: 26, bytes: 2)) == member.name
    else {
      throw ArchiveError("the zip directory and a member's header differ")
    }
  }

  /// Checks that at least `count` bytes are available, and reads more if needed.
  private mutating func require(_ count: Int) throws {
    if window.count < count { try fill(from: place) }
    guard window.count >= count else { throw Self.broken }
  }

  private mutating func fill(from place: Int64) throws {
    guard 0...input.size ~= place else { throw Self.broken }
    window = []
    let count = try input.readFile(&buffer, place)
    window = buffer[..<count]
  }

  private static let broken = ArchiveError("the zip directory is malformed")
}

extension ArraySlice<UInt8> {
  /// Returns the little-endian number of a few bytes at an offset.
  fileprivate func number(at offset: Int, bytes: Int) -> Int {
    dropFirst(offset).prefix(bytes).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns the little-endian number of eight bytes at an offset.
  fileprivate func long(at offset: Int) -> UInt64 {
    dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
