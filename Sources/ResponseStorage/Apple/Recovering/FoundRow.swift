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
