#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// The parts of sparse files that have data.
extension OpenFile {
  /// Returns the next part of the file that is not a hole.
  ///
  /// The file system decides what a hole is; without support for holes, the whole file is one part. The corresponding C
  /// function is `lseek`, so this changes where reading without an offset goes on.
  ///
  /// - Parameters:
  ///   - offset: Where the search begins.
  ///   - size: The length of the file.
  /// - Returns: The part from `offset` on, or the next one; `nil` if only a hole is left.
  public borrowing func nextData(from offset: Int64, size: Int64) -> Range<Int64>? {
    guard offset >= 0, offset < size else { return nil }
    // `SEEK_DATA` and `SEEK_HOLE`, which some C headers do not declare.
    #if canImport(Darwin)
      let (seekData, seekHole) = (4 as Int32, 3 as Int32)
    #else
      let (seekData, seekHole) = (3 as Int32, 4 as Int32)
    #endif
    let start = Int64(lseek(descriptor, off_t(offset), seekData))
    if start < 0 {
      // Only a hole is left; any other error says that holes are not known.
      return errno == ENXIO ? nil : offset..<size
    }
    let end = Int64(lseek(descriptor, off_t(start), seekHole))
    // Some file systems answer in a way that makes no progress.
    guard start >= offset, start < size, end > start else { return offset..<size }
    return start..<min(end, size)
  }

  /// Leaves a hole up to `offset`: the next write without an offset begins there.
  borrowing func skip(to offset: Int64) throws(FileError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw .last(at: path) }
  }
}
