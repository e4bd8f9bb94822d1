#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Array<UInt8> {
  /// Puts a copy of `bytes` in the place of all elements, and uses their memory again.
  ///
  /// The standard library copies a span byte by byte, and empties an array before it is filled anew;
  /// where this is called for every row of a store, that is a third of its time.
  public mutating func replaceAll(with bytes: Span<UInt8>) {
    let common = Swift.min(count, bytes.count)
    unsafe bytes.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      if common > 0 {
        unsafe withUnsafeMutableBytes { unsafe _ = memcpy($0.baseAddress!, start, common) }
      }
      let rest = bytes.count &- common
      guard rest > 0 else { return }
      append(addingCapacity: rest) { (output: inout OutputSpan<UInt8>) in
        unsafe output.withUnsafeMutableBufferPointer { target, initializedCount in
          unsafe memcpy(target.baseAddress!, start + common, rest)
          initializedCount = rest
        }
      }
    }
    if count > bytes.count { removeLast(count - bytes.count) }
  }
}
