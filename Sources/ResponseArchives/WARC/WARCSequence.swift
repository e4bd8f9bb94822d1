import Bytes
import ResponseStorage

/// The records from one that describes the file to the next.
///
/// If this program wrote them, their ids tell whether their headers were changed, and the last one whether
/// some are missing: WARC itself can tell neither.
struct WARCSequence {
  /// Whether this program wrote the records.
  private(set) var isOurs = false

  private var entries: Int64 = 0
  private var isWhole = true

  /// The longest description that is looked at, in bytes.
  private static let longest = ByteCount(1 << 16)

  /// Reads a record that describes those after it.
  mutating func begin(_ reader: WARCReader) throws {
    try end()
    let header = reader.header
    let lines = try reader.block(upTo: Self.longest)?.split(separator: 0x0A) ?? []
    isOurs = lines.contains { $0.starts(with: Array("software: \(WARCLabel.software)".utf8)) }
    (entries, isWhole) = (0, !isOurs)
    try checkID(header)
  }

  /// Looks at a record that goes with the others.
  mutating func check(_ header: WARCHeader, isEntry: Bool) throws(WARCError) {
    guard isOurs else { return }
    guard !isWhole else { throw WARCError("a record follows the last one") }
    if isEntry { entries += 1 }
    try checkID(header)
  }

  /// Looks at a record that may be the last one.
  mutating func readEnd(_ reader: WARCReader) throws {
    guard isOurs else { return }
    let header = reader.header
    let block = try reader.block(upTo: Self.longest) ?? []
    let mark = Array(WARCLabel.end.utf8)
    guard block.starts(with: mark) else { return }
    let number = Int64(digits: block.dropFirst(mark.count).prefix(while: \.isASCIIDigit))
    guard number == entries, !isWhole else {
      throw WARCError("it says that it holds another number of entries than it does")
    }
    isWhole = true
    try checkID(header)
  }

  /// Makes sure that the last record was there.
  func end() throws(WARCError) {
    guard isWhole else { throw WARCError("it ends too early, after \(entries) entries") }
  }

  private func checkID(_ header: WARCHeader) throws(WARCError) {
    guard isOurs, header["warc-record-id"] != header.derivedID else { return }
    throw WARCError("the header of a record does not match its id")
  }
}
