import Archive
import Bytes

/// Opens records of a WARC file at places that are known.
final class WARCCursor {
  private let file: FileBytes
  private let coding: ContentCoding?
  private var input: WARCInput?
  private var backwardBytes: ByteCount = 0

  /// The most bytes that are decoded only to come to records which do not begin a member of gzip.
  private static let mostBackwardBytes = ByteCount(4 << 30)

  init(_ file: FileBytes, _ coding: ContentCoding?) {
    self.file = file
    self.coding = coding
  }

  /// Opens the record at a place.
  ///
  /// - Throws: ``WARCError``, or what reading throws.
  func record(at place: WARCInput.Place) throws -> WARCReader {
    let there = try input?.advance(to: place) ?? false
    if !there {
      backwardBytes += ByteCount(place.offset)
      guard backwardBytes <= Self.mostBackwardBytes else {
        throw WARCError("too many of its records refer back into one gzip member")
      }
      input = nil
      input = try WARCInput(file, coding, from: place)
    }
    guard let input, case let reader = WARCReader(input, verifying: false), try reader.next() else {
      throw WARCError("a record is no longer there")
    }
    return reader
  }
}
