import Files

/// An unnamed file that several lists share.
final class SpoolFile {
  private var file: TemporaryFile
  private let folder: String

  /// Creates an empty file on the file system of `folder`.
  init(in folder: String) throws(FileError) {
    file = try TemporaryFile(in: folder)
    self.folder = folder
  }

  /// Where the next bytes are written.
  var end: Int64 { file.size }

  /// Appends bytes.
  func append(_ bytes: [UInt8]) throws(FileError) { try file.append(bytes) }

  /// Reads the first bytes of a range that must have been written.
  ///
  /// - Returns: At least one byte.
  func read(_ range: Range<Int64>, atMost count: Int) throws(FileError) -> ArraySlice<UInt8> {
    var buffer = [UInt8](repeating: 0, count: min(count, Int(clamping: range.count)))
    let count = try file.read(into: &buffer, at: range.lowerBound)
    guard count > 0 else { throw .incomplete(at: folder) }
    return buffer[..<count]
  }
}
