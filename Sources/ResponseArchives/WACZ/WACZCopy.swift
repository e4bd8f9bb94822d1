import Bytes
import Files
import ResponseStorage

/// The concatenated WARC files of a WACZ, in an unnamed file: a member of a zip file has no random access.
///
/// A thread extracts them, and they can be read meanwhile.
final class WACZCopy: Sendable {
  private struct State: Sendable {
    var size: ByteCount = 0
    /// Whether all digests of the WACZ were verified, or why that failed.
    var end: Result<Void, any Error>?
  }

  // Without a name, it disappears with the process, however that ends.
  private let file: TemporaryFile
  private let state = Monitor(State())

  /// Starts the extraction.
  init(of archive: ArchiveFile, limits: ArchiveLimits) throws {
    file = try TemporaryFile(in: archive.temporaryFolder)
    BackgroundThread.start("WACZCopy") { [self] in
      let end = Result {
        let unpacking = try WACZUnpacking(archive, limits: limits)
        try unpacking.run { [self] bytes in
          try file.write(bytes)
          state.update { $0.size += ByteCount(bytes.count) }
        }
      }
      state.update { $0.end = end }
    }
  }

  /// Waits for the end of the extraction.
  ///
  /// - Throws: What ``WACZUnpacking/run(_:)`` throws.
  func wait() throws {
    try state.wait(until: { $0.end != nil }) { $0.end }?.get()
  }

  /// The bytes. Reading waits until they are extracted, and throws the error of the extraction if there is one. The size
  /// is that at the end.
  var bytes: FileBytes {
    FileBytes(
      size: { [self] in state.wait(until: { $0.end != nil }) { $0.size } }
    ) { [self] buffer, offset in
      let end = ByteCount(offset) + ByteCount(buffer.count)
      let failure = state.wait(until: { $0.size >= end || $0.end != nil }) { $0.end }
      try failure?.get()
      return try file.read(into: &buffer, at: offset)
    }
  }
}
