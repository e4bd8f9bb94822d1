import Bytes
import Files
import ResponseStorage

/// The concatenated WARC files of a WACZ.
///
/// A member of a zip file has random access where it is stored without compression, and is read there. Other members are
/// extracted to an unnamed file. A thread verifies and extracts them, and they can be read meanwhile.
final class WACZContents: Sendable {
  /// Bytes that follow each other in the WACZ or in the unnamed file.
  private struct Extent: Sendable {
    /// The range in the concatenation.
    var range: Range<Int64>
    var isExtracted: Bool
    /// The offset of the first byte in the WACZ or in the unnamed file.
    var offset: Int64
  }

  private struct State: Sendable {
    /// One or two for each member.
    var extents: [Extent] = []
    var extractedSize: ByteCount = 0
    /// Whether all digests of the WACZ were verified, or why that failed.
    var end: Result<Void, any Error>?

    var size: ByteCount { ByteCount(extents.last?.range.upperBound ?? 0) }

    mutating func append(_ piece: WACZUnpacking.Piece) {
      switch piece {
      case .stored(let offset, let count):
        append(count, at: offset, isExtracted: false)
      case .extracted(let bytes):
        append(bytes.count, at: extractedSize.bytes, isExtracted: true)
        extractedSize += ByteCount(bytes.count)
      }
    }

    private mutating func append(_ count: Int, at offset: Int64, isExtracted: Bool) {
      let range = size.bytes..<size.bytes + Int64(count)
      if let last = extents.last, last.isExtracted == isExtracted,
        last.offset + Int64(last.range.count) == offset
      {
        extents[extents.count - 1].range = last.range.lowerBound..<range.upperBound
      } else {
        extents.append(Extent(range: range, isExtracted: isExtracted, offset: offset))
      }
    }

    /// Returns the extent with a byte; `nil` if there is none yet. O(log *n*), where *n* is the number of extents.
    func extent(at place: Int64) -> Extent? {
      var candidates = extents.indices
      while let middle = candidates.middle {
        let range = extents[middle].range
        if range.contains(place) { return extents[middle] }
        candidates =
          place < range.lowerBound
          ? candidates.lowerBound..<middle : middle + 1..<candidates.upperBound
      }
      return nil
    }
  }

  private let archive: ArchiveFile
  // Without a name, it disappears with the process, however that ends.
  private let extracted: TemporaryFile
  private let state = Monitor(State())

  /// Starts the verification.
  init(of archive: ArchiveFile, limits: ArchiveLimits) throws {
    self.archive = archive
    extracted = try TemporaryFile()
    BackgroundThread.start("WACZContents") { [self] in
      let end = Result {
        let unpacking = try WACZUnpacking(
          FileBytes(archive), at: archive.path, limits: limits)
        try unpacking.run { [self] piece in
          if case .extracted(let bytes) = piece { try extracted.write(bytes) }
          state.update { $0.append(piece) }
        }
      }
      state.update { $0.end = end }
    }
  }

  /// Waits for the end of the verification.
  ///
  /// - Throws: What ``WACZUnpacking/run(_:)`` throws.
  func wait() throws {
    try state.wait(until: { $0.end != nil }) { $0.end }?.get()
  }

  /// The bytes. Reading waits until they were read for the verification, and throws its error if there is one. The size
  /// is that at the end.
  var bytes: FileBytes {
    FileBytes(
      size: { [self] in state.wait(until: { $0.end != nil }) { $0.size } },
      read: { [self] in try read(into: &$0, at: $1) })
  }

  private func read(into buffer: inout [UInt8], at place: Int64) throws -> Int {
    let wanted = ByteCount(place) + ByteCount(buffer.count)
    let (extent, end) = state.wait(until: { $0.size >= wanted || $0.end != nil }) {
      ($0.extent(at: place), $0.end)
    }
    try end?.get()
    guard let extent else { return 0 }
    let offset = extent.offset + (place - extent.range.lowerBound)
    let count =
      try extent.isExtracted
      ? extracted.read(into: &buffer, at: offset) : archive.read(into: &buffer, at: offset)
    // What follows a stored member in the WACZ is no part of it.
    return Int(min(Int64(count), extent.range.upperBound - place))
  }
}
