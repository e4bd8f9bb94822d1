import Files

/// An unnamed file that several lists share.
///
/// What the file has no room for is kept in memory: a removal may have been started to make room on a full disk.
final class SpoolFile {
  private var file: TemporaryFile?
  private let folder: String
  /// The bytes after those in the file.
  private var memory: [UInt8] = []

  /// Creates an empty file on the file system of `folder`; without that folder, all bytes are kept in memory.
  init(in folder: String) throws(FileError) {
    self.folder = folder
    do throws(FileError) {
      file = try TemporaryFile(in: folder)
    } catch {
      file = nil
      guard error.leavesMemory else { throw error }
    }
  }

  private var fileEnd: Int64 { file?.size ?? 0 }

  /// Where the next bytes are written.
  var end: Int64 { fileEnd + Int64(memory.count) }

  /// Appends bytes.
  func append(_ bytes: [UInt8]) throws(FileError) {
    if file != nil, memory.isEmpty {
      do throws(FileError) {
        return try file?.append(bytes) ?? ()
      } catch {
        guard error.leavesMemory else { throw error }
      }
    }
    memory += bytes
  }

  /// Reads the first bytes of a range that must have been written.
  ///
  /// - Returns: At least one byte.
  func read(_ range: Range<Int64>, atMost count: Int) throws(FileError) -> ArraySlice<UInt8> {
    let count = min(count, Int(clamping: range.count))
    guard range.lowerBound < fileEnd else {
      let start = Int(clamping: range.lowerBound - fileEnd)
      return memory[start..<min(start + count, memory.count)]
    }
    var buffer = [UInt8](
      repeating: 0, count: min(count, Int(clamping: fileEnd - range.lowerBound)))
    let read = try file?.read(into: &buffer, at: range.lowerBound) ?? 0
    guard read > 0 else { throw .incomplete(at: folder) }
    return buffer[..<read]
  }
}

extension FileError {
  /// Whether there is no file to write to, so that only memory is left.
  fileprivate var leavesMemory: Bool {
    switch kind {
    case .noRoom, .notFound, .accessDenied: true
    case .symbolicLink, .exists, .brokenPipe, .busy, .other: false
    }
  }
}
