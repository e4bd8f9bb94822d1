import Bytes
import ResponseStorage

/// Verifies the records from one `warcinfo` record to the next.
///
/// If this program wrote them, their ids reveal changed headers, and the last record reveals missing ones. WARC
/// itself can detect neither.
struct WARCSequence {
  /// Whether this program wrote the records.
  private(set) var isOurs = false

  private var entries: Int64 = 0
  private var isWhole = true

  // A `warcinfo` block of another program may hold a whole configuration, of which only the
  // software line matters here.
  /// The size of the largest `warcinfo` block that is read, in bytes.
  private static let longest = ByteCount(1 << 16)

  /// Reads a `warcinfo` record, which starts a new sequence.
  mutating func begin(_ reader: WARCReader) throws {
    try end()
    let header = reader.header
    let lines = try reader.block(upTo: Self.longest)?.split(separator: 0x0A) ?? []
    // Files can be concatenated, so each `warcinfo` record decides for the records that follow it.
    isOurs = lines.contains { $0.starts(with: Array("software: \(WARCLabel.software)".utf8)) }
    (entries, isWhole) = (0, !isOurs)
    try checkID(header)
  }

  /// Checks a record of the sequence.
  mutating func check(_ header: WARCHeader, isEntry: Bool) throws(WARCError) {
    guard isOurs else { return }
    guard !isWhole else { throw WARCError("a record follows the final record") }
    if isEntry { entries += 1 }
    try checkID(header)
  }

  /// Checks a `metadata` record, which may be the last record.
  mutating func readEnd(_ reader: WARCReader) throws {
    guard isOurs else { return }
    let header = reader.header
    let block = try reader.block(upTo: Self.longest) ?? []
    let mark = Array(WARCLabel.end.utf8)
    // Other metadata records are allowed anywhere in a WARC file.
    guard block.starts(with: mark) else { return }
    let number = Int64(digits: block.dropFirst(mark.count).prefix(while: \.isASCIIDigit))
    guard number == entries, !isWhole else {
      throw WARCError("its declared number of entries does not match its contents")
    }
    isWhole = true
    try checkID(header)
  }

  /// Checks that the sequence ended with its last record.
  func end() throws(WARCError) {
    guard isWhole else {
      throw WARCError(
        "it ends unexpectedly after \(entries) \(entries == 1 ? "entry" : "entries")")
    }
  }

  private func checkID(_ header: WARCHeader) throws(WARCError) {
    guard isOurs, header["warc-record-id"] != header.derivedID else { return }
    throw WARCError("the header of a record does not match its id")
  }
}
