import Bytes
import Files

/// Copies of the heads of records, in an unnamed file.
///
/// In a WARC file, a head can only be decoded together with what follows it. So a pass that wants no bodies reads the
/// copies, instead of decoding the whole file again.
final class WARCHeadCopies {
  private var file: TemporaryFile?
  private var unwritten: [UInt8] = []
  /// The number of bytes that were appended.
  private var end: Int64 = 0

  /// The number of bytes that are written at once.
  private static let piece = 1 << 16

  /// Starts without copies.
  ///
  /// - Parameter folder: The folder for temporary files.
  init(in folder: String) {
    file = try? TemporaryFile(in: folder)
  }

  /// Appends a head, or more of the last one.
  ///
  /// - Returns: The offset of the bytes in the file.
  func append(_ bytes: some Sequence<UInt8>) -> Int64 {
    let start = end + Int64(unwritten.count)
    if file == nil { return start }
    unwritten += bytes
    if unwritten.count >= Self.piece { write() }
    return start
  }

  private func write() {
    // Without room for the copies, the heads are read from the WARC file.
    do { try file?.append(unwritten) } catch { file = nil }
    end += Int64(unwritten.count)
    unwritten.removeAll(keepingCapacity: true)
  }

  /// Returns the copies; `nil` if they could not be written.
  func finish() -> FileBytes? {
    write()
    guard let file = file.take() else { return nil }
    let copies = Written(file)
    return FileBytes(size: { [end] in ByteCount(end) }) { try copies.file.read(into: &$0, at: $1) }
  }

  private final class Written: Sendable {
    let file: TemporaryFile

    init(_ file: consuming TemporaryFile) { self.file = file }
  }
}
