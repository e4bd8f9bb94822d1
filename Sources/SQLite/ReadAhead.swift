internal import CSQLite

/// The parts of a file that are in memory because they are likely to be read next.
///
/// SQLite reads a page at a time. If it reads a table to the end, a system call for every few rows takes as long as decoding
/// them. Tables that grow together lie interleaved in the file, so several parts are kept.
@safe
final class ReadAhead {
  /// A part of the file.
  private struct Part {
    var start: Int64 = 0
    var end: Int64 = 0
    /// Whether its bytes are in memory. Otherwise it only was read, and may be continued.
    var isInMemory = false
    /// The number of the read that last needed it.
    var use = 0
  }

  /// The largest number of bytes to read at once.
  static let longest = 1 << 16
  /// The largest gap, in bytes, behind which a read still continues a part. With larger gaps, most of what is read ahead
  /// would not be needed.
  private static let largestGap: Int64 = 1 << 14

  private var parts = [Part](repeating: Part(), count: 4)
  private var uses = 0
  private let memory: UnsafeMutableRawBufferPointer

  init() {
    // Processors copy to a boundary of a page three times as fast.
    unsafe memory = .allocate(byteCount: parts.count * Self.longest, alignment: 4_096)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// Fills a buffer with bytes of the file.
  ///
  /// - Parameters:
  ///   - size: The size of the file, in bytes.
  ///   - read: Fills a buffer from an offset, and returns a result code of SQLite.
  /// - Returns: The result code for these bytes alone.
  func fill(
    _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, ofFileWith size: Int64,
    _ read: (UnsafeMutableRawBufferPointer, Int64) -> Int32
  ) -> Int32 {
    uses += 1
    let range = offset..<offset + Int64(buffer.count)
    let known = parts.indices.first {
      parts[$0].isInMemory && parts[$0].start <= range.lowerBound
        && range.upperBound <= parts[$0].end
    }
    if let known {
      unsafe copy(range, of: known, to: buffer)
      return SQLITE_OK
    }
    let continued = parts.indices.first {
      0...Self.largestGap ~= range.lowerBound - parts[$0].end && parts[$0].end > 0
    }
    if let continued {
      let end = min(size, range.lowerBound + Int64(Self.longest))
      let part = unsafe UnsafeMutableRawBufferPointer(
        rebasing: memory[continued * Self.longest..<(continued + 1) * Self.longest])
      // If the file cannot be read that far, only what was asked for counts.
      if end >= range.upperBound,
        unsafe read(.init(rebasing: part[..<Int(end - range.lowerBound)]), range.lowerBound)
          == SQLITE_OK
      {
        parts[continued] = Part(start: range.lowerBound, end: end, isInMemory: true)
        unsafe copy(range, of: continued, to: buffer)
        return SQLITE_OK
      }
    }
    let part = continued ?? parts.indices.min { parts[$0].use < parts[$1].use } ?? 0
    parts[part] = Part(start: range.lowerBound, end: range.upperBound, use: uses)
    return unsafe read(buffer, offset)
  }

  private func copy(
    _ range: Range<Int64>, of part: Int, to buffer: UnsafeMutableRawBufferPointer
  ) {
    parts[part].use = uses
    let start = part * Self.longest + Int(range.lowerBound - parts[part].start)
    unsafe buffer.copyMemory(from: .init(rebasing: memory[start..<start + buffer.count]))
  }
}
