public import Bytes
import Files

/// An unnamed file that several lists share.
///
/// What the file has no room for is kept in memory: a removal may have been started to make room on a full disk.
final class SpoolFile {
  private var file: TemporaryFile?
  /// The folder of the file, which itself has no name.
  let folder: String
  private let status: (String) throws(FileError) -> FileSystemStatus
  /// The number of the file system of the file.
  private var device: UInt64 = 0
  /// The bytes after those in the file.
  private var memory: [UInt8] = []

  /// Creates an empty file on the file system of `folder`; without that folder, all bytes are kept in memory.
  ///
  /// - Parameter status: Returns the status of the file system of a folder.
  init(
    in folder: String,
    status: @escaping (String) throws(FileError) -> FileSystemStatus = {
      path throws(FileError) in try FileSystemStatus.of(path)
    }
  ) throws(FileError) {
    (self.folder, self.status) = (folder, status)
    do throws(FileError) {
      let status = try status(folder)
      device = status.device
      if status.hasRoomForTemporaryFiles { file = try TemporaryFile(in: folder) }
    } catch {
      guard error.leavesMemory else { throw error }
    }
  }

  deinit { SpoolSpace.change(from: fileEnd, to: 0, on: device) }

  private var fileEnd: Int64 { file?.size ?? 0 }

  /// Where the next bytes are written.
  var end: Int64 { fileEnd + Int64(memory.count) }

  /// Appends bytes.
  func append(_ bytes: [UInt8]) throws(FileError) {
    if try !write(bytes) { memory += bytes }
  }

  /// Appends bytes to the file if it has room for them.
  ///
  /// - Returns: Whether it has.
  private func write(_ bytes: [UInt8]) throws(FileError) -> Bool {
    // Only the last bytes can be in memory.
    guard file != nil, memory.isEmpty else { return false }
    let start = fileEnd
    do throws(FileError) {
      guard try status(folder).hasRoomForTemporaryFiles else { return false }
      try file?.append(bytes)
    } catch {
      guard error.leavesMemory else { throw error }
      try leaveFile()
      return false
    }
    SpoolSpace.change(from: start, to: fileEnd, on: device)
    return true
  }

  /// Takes all bytes into memory, and gives back the space of the file.
  private func leaveFile() throws(FileError) {
    let size = fileEnd
    var bytes: [UInt8] = []
    while Int64(bytes.count) < size {
      bytes += try read(Int64(bytes.count)..<size, atMost: 1 << 20)
    }
    file = nil
    memory = bytes
    SpoolSpace.change(from: size, to: 0, on: device)
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
    guard read > 0 else { throw FileError.incomplete(at: folder).ofTemporaryFile }
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

/// The space that the long lists of this process take on file systems while they are in use.
public enum SpoolSpace {
  /// Of each file system, by its number.
  private static let taken = Monitor<[UInt64: Int64]>([:])

  /// A file takes whole blocks. Most file systems have blocks of 4 KiB.
  private static let block: Int64 = 4_096

  /// Returns how many bytes are free again on a file system when this process ends, besides those that already are.
  ///
  /// - Parameter device: The number of the file system: ``FileSystemStatus/device``.
  public static func bytes(on device: UInt64) -> ByteCount {
    taken.withLock { ByteCount($0[device] ?? 0) }
  }

  /// Counts that a file has grown, or is gone.
  static func change(from before: Int64, to after: Int64, on device: UInt64) {
    let blocks = [before, after].map { ($0 + block - 1) / block * block }
    taken.withLock { $0[device, default: 0] += blocks[1] - blocks[0] }
  }
}

/// A value that can be kept as bytes in a temporary file, which the same process reads again.
protocol Spoolable {
  /// Adds the value to others.
  func pack(into values: inout PackedValues)

  /// How many bytes of texts it has.
  var textBytes: Int { get }

  /// Reads a value that ``pack(into:)`` has written.
  init(from reader: inout PackedReader) throws(PackedReader.Failure)
}

extension Spoolable {
  var textBytes: Int { 0 }
}
