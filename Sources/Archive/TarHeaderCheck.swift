/// A check of tar headers before libarchive reads them, for what libarchive accepts silently.
///
/// For libarchive, a name in an extended pax header ends at a NUL, a global header applies to all following members,
/// and a size in an extended header replaces the one in the member's header. Other programs read a different archive
/// from such bytes, and no program that writes our archives creates them. Everything else is left to libarchive.
struct TarHeaderCheck {
  /// The kind of the next bytes to check.
  private enum Part {
    case header
    case extendedHeader(padding: Int64)
    case nothing
  }

  private static let blockSize = 512

  /// The longest extended header, in bytes; more than any useful one needs.
  private static let longestExtendedHeader: Int64 = 1 << 20

  private var part = Part.header
  private var collected: [UInt8] = []
  private var wanted = blockSize
  /// The number of bytes to skip before the next bytes to check.
  private var passed: Int64 = 0
  /// The size of the member in the last extended header.
  private var extendedSize: Int64?

  /// Checks the next bytes.
  mutating func check(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    var place = 0
    while place < bytes.count {
      if case .nothing = part { return }
      let rest = bytes.count - place
      let over = Int(min(passed, Int64(rest)))
      passed -= Int64(over)
      place += over
      let count = min(wanted - collected.count, rest - over)
      unsafe collected.append(contentsOf: bytes[place..<place + count])
      place += count
      if collected.count == wanted { try look() }
    }
  }

  /// Skips bytes as libarchive does, which it may only do within a member.
  mutating func passOver(_ count: Int64) throws(ArchiveError) {
    if case .nothing = part { return }
    // libarchive seeks only over the data of members. If it landed anywhere else, data that its
    // author chose would be checked, and the true headers would not.
    guard 0...passed ~= count, collected.isEmpty else {
      throw ArchiveError("a header is missing")
    }
    passed -= count
  }

  private mutating func look() throws(ArchiveError) {
    switch part {
    case .header: try lookAtHeader()
    case .extendedHeader(let padding):
      try lookAtExtendedHeader()
      expectHeader(after: padding)
    case .nothing: break
    }
    collected.removeAll(keepingCapacity: true)
  }

  /// Expects the next header after some bytes.
  private mutating func expectHeader(after count: Int64) {
    (part, wanted, passed) = (.header, Self.blockSize, count)
  }

  /// Checks the header of a member (POSIX.1-2024, pax, "ustar Interchange Format").
  private mutating func lookAtHeader() throws(ArchiveError) {
    // `ArchiveReader.end()` checks what follows the end.
    guard collected.contains(where: { $0 != 0 }) else { return part = .nothing }
    guard let size = Self.number(collected[124..<136]) else {
      throw ArchiveError("a header has no valid size")
    }
    // Members are padded to whole blocks.
    let padding = -size & Int64(Self.blockSize - 1)
    switch collected[156] {
    case UInt8(ascii: "g"): throw ArchiveError("an extended header applies to all members")
    case UInt8(ascii: "x"):
      guard size <= Self.longestExtendedHeader else {
        throw ArchiveError("an extended header is too long")
      }
      (part, wanted) = (.extendedHeader(padding: padding), Int(size))
      if size == 0 { expectHeader(after: 0) }
    default:
      guard extendedSize ?? size == size else {
        throw ArchiveError("the size in an extended header differs from the member's")
      }
      extendedSize = nil
      let (end, overflows) = size.addingReportingOverflow(padding)
      guard !overflows else { throw ArchiveError("a member is too long") }
      expectHeader(after: end)
    }
  }

  /// Checks the records of an extended header: `LENGTH KEY=VALUE` and a line feed.
  private mutating func lookAtExtendedHeader() throws(ArchiveError) {
    let broken = ArchiveError("an extended header is malformed")
    var rest = collected[...]
    while !rest.isEmpty {
      let digits = rest.prefix { $0 != 0x20 }
      guard let length = Self.decimal(digits), length > digits.count + 1, length <= rest.count,
        rest[rest.startIndex + Int(length) - 1] == 0x0A
      else { throw broken }
      let record = rest.prefix(Int(length) - 1).dropFirst(digits.count + 1)
      rest = rest.dropFirst(Int(length))
      let key = record.prefix { $0 != UInt8(ascii: "=") }
      guard key.count < record.count else { throw broken }
      let value = record.dropFirst(key.count + 1)
      if key.elementsEqual("path".utf8), value.contains(0) {
        throw ArchiveError("the name of a member contains NUL")
      }
      if key.elementsEqual("size".utf8) {
        guard let size = Self.decimal(value) else { throw broken }
        extendedSize = size
      }
    }
  }

  /// Returns the number in a field of a header: octal digits, or a binary number if the first bit is set.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    // GNU tar writes sizes from 8 GiB on as binary numbers. A negative one starts with 0xFF, which
    // is no octal digit either, and is refused below.
    if field.first == 0x80 {
      guard field.dropLast(8).dropFirst().allSatisfy({ $0 == 0 }) else { return nil }
      let bits = field.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      return Int64(exactly: bits)
    }
    let text = field.drop { $0 == 0x20 }
    let digits = text.prefix { 0x30...0x37 ~= $0 }
    let isWhole = text.dropFirst(digits.count).allSatisfy { $0 == 0 || $0 == 0x20 }
    return isWhole ? digits.reduce(0 as Int64) { $0 << 3 | Int64($1 & 7) } : nil
  }

  private static func decimal(_ text: ArraySlice<UInt8>) -> Int64? {
    // Numbers of 18 digits fit into an `Int64`.
    guard !text.isEmpty, text.count <= 18, text.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      return nil
    }
    return text.reduce(0 as Int64) { $0 * 10 + Int64($1 - 0x30) }
  }
}
