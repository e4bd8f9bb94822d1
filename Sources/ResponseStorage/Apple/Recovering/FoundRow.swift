import Bytes
import SQLitePages

/// A row of one of the tables that was found in some state of a page.
struct FoundRow {
  /// The index of its shape in ``AppleRecordShapes/all``.
  var shape: Int

  /// The id; `nil` if it is overwritten.
  var id: Int64?

  /// The states of the database in which the row exists, as far as is known; from ``unknown`` on if its beginning is not.
  var (from, to): (Int64, Int64)

  /// The page that it was found in.
  var image: PageImages.Image
  /// The number of that page.
  var page: UInt32
  /// What the page is used for now.
  var kind: RecoveredPlace.Kind

  /// Where the record is.
  var payload: Payload
  /// The header of the record if its bytes are overwritten.
  var header: RecordHeader?

  /// The key, or the URL of the request.
  var text: ByteString?
  /// When the response was stored, in seconds since 1970.
  var stored: Double = -.infinity

  /// The length of a body in the database; of a response, the length that its property list states for the body.
  var bodySize: ByteCount?

  /// Whether all its values could be read.
  var isWhole = true

  /// Whether SQLite shows the row.
  var isLive = false

  /// The time of a row of which it is not known when it was written.
  static let unknown = Int64.min

  /// The table.
  var table: AppleRecordShapes.Table { AppleRecordShapes.all[shape].table }

  /// Whether the time at which the row was written is known.
  var hasKnownTime: Bool { from != Self.unknown }

  /// Where the row was found.
  var place: RecoveredPlace {
    RecoveredPlace(
      file: image.file, kind: kind, page: page, frame: image.file == .log ? image.number : nil,
      offset: image.offset + Int64(payload.local.lowerBound))
  }

  /// Adds the time and the place of another copy of the row.
  mutating func extend(with other: FoundRow) {
    let known = [self, other].filter(\.hasKnownTime)
    let earliest = known.map(\.from).min() ?? Self.unknown
    let latest = known.isEmpty ? max(to, other.to) : known.map(\.to).max() ?? to
    // A whole row is better than one that has lost its overflow pages, and a row better than remains of one.
    if (other.isWhole ? 1 : 0, other.hasKnownTime ? 1 : 0) > (isWhole ? 1 : 0, hasKnownTime ? 1 : 0)
    {
      self = other
    }
    (from, to) = (earliest, latest)
  }
}

/// A digest of the first bytes of a row, by which nearly all rows that are not equal are told apart without decoding them.
struct RowBeginning: Hashable {
  private var count: Int
  private var digest: UInt64

  /// The bytes that are compared, from the beginning of the first value: not the first ones, which many property lists
  /// have in common.
  private static let compared = 64..<192

  /// Computes the digest of a row in a page.
  ///
  /// - Parameter header: The header of the record, of which the bytes in the page can be overwritten.
  /// - Returns: `nil` if not enough of the row is in the page.
  init?(_ header: RecordHeader, _ payload: Payload, in page: [UInt8]) {
    guard header.values.count > 1 else { return nil }
    // Of property lists, only the response is compared; all values of other rows are.
    let isList = header.values[1].type.isBlob
    count = isList ? header.values[1].range.count : header.size - header.length
    let start = payload.local.lowerBound + header.length
    let end = start + min(count, Self.compared.upperBound)
    guard end <= payload.local.upperBound, end <= page.count else { return nil }
    let first = count > Self.compared.upperBound ? start + Self.compared.lowerBound : start
    // FNV-1a.
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in first..<end { digest = (digest ^ UInt64(page[index])) &* 0x100_0000_01B3 }
    self.digest = digest
  }
}

/// The values of a row.
struct RowContent {
  /// The header of the record.
  var header: RecordHeader
  /// The payload, as far as it could be read.
  var bytes: [UInt8]
  /// Whether the whole payload could be read.
  var isComplete: Bool
  /// The names of the columns.
  var columns: [String]

  /// Returns a value by the name of its column; `nil` if it is not in the part that could be read.
  func value(_ column: String) -> RawResponse.Value? {
    guard let index = columns.firstIndex(of: column), header.values.indices.contains(index) else {
      return nil
    }
    let (type, range) = (header.values[index].type, header.values[index].range)
    if type.isNull { return .null }
    if type.isInteger { return header.integer(index, in: bytes.span).map { .integer($0) } }
    if type.isReal { return header.real(index, in: bytes.span).map { .real($0) } }
    guard range.upperBound <= bytes.count else { return nil }
    return type.isText ? .text(ByteString(Array(bytes[range]))) : .blob(Array(bytes[range]))
  }

  /// The range of a BLOB or text in the payload; `nil` for any other value.
  func range(of column: String) -> Range<Int>? {
    guard let index = columns.firstIndex(of: column), header.values.indices.contains(index),
      header.values[index].type.isText || header.values[index].type.isBlob
    else { return nil }
    return header.values[index].range
  }
}
