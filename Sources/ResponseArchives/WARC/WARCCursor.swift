import Archive
import Bytes

/// Opens records of a WARC file at known places.
final class WARCCursor {
  private let file: FileBytes
  private let coding: ContentCoding?
  private var input: WARCInput?
  private var backwardBytes: ByteCount = 0
  /// The number of the last opening of a record.
  private(set) var opening = 0
  /// Whether at most the head of that record was read.
  private var isUnread = false

  /// The maximum number of bytes decoded only to reach records inside a gzip member. A hostile file could make every
  /// record refer back to the start of one large member.
  private static let mostBackwardBytes = ByteCount(4 << 30)

  init(_ file: FileBytes, _ coding: ContentCoding?) {
    self.file = file
    self.coding = coding
  }

  /// Opens the record at a place.
  ///
  /// - Throws: ``WARCError``, or what reading throws.
  func record(at place: WARCInput.Place) throws -> WARCReader {
    opening += 1
    isUnread = false
    // Reading on is much cheaper than starting a gzip member again: a file may be one single
    // member, although the specification wants one for each record.
    let there = try input?.advance(to: place) ?? false
    if !there {
      backwardBytes += ByteCount(place.offset)
      guard backwardBytes <= Self.mostBackwardBytes else {
        throw WARCError("too many records refer back to one gzip member")
      }
      input = nil
      input = try WARCInput(file, coding, from: place)
    }
    guard let input, case let reader = WARCReader(input, indexing: false), try reader.next() else {
      throw WARCError("a record disappeared")
    }
    isUnread = true
    return reader
  }

  /// Returns, once for each opening, whether its record can be read further.
  func readsOn(_ opening: Int) -> Bool {
    guard opening == self.opening, isUnread else { return false }
    isUnread = false
    return true
  }
}
