import Bytes
import Files

/// An open file of a database, which several threads read.
final class PageFile: Sendable {
  let file: OpenFile

  init(_ path: String) throws(FileError) { file = try OpenFile(reading: path) }

  /// Copies a file up to its first hole to an unnamed one.
  init(copying original: borrowing OpenFile, to folder: String) throws(FileError) {
    let size = try original.status().size.bytes
    var copy = try TemporaryFile(in: folder)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // A log has no holes unless another program made them.
    let end = original.nextData(from: 0, size: size)?.upperBound ?? 0
    while copy.size < end {
      let count = try original.read(
        Int(min(Int64(buffer.count), end - copy.size)), at: copy.size, into: &buffer)
      guard count > 0 else { break }
      try copy.append(Array(buffer[..<count]))
    }
    file = try OpenFile(reading: copy, as: original.path)
  }
}
