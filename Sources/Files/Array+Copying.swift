extension Array<UInt8> {
  /// Puts a copy of `bytes` in the place of all elements, and uses their memory again.
  ///
  /// The standard library copies a buffer at once, but a span byte by byte, which for every row of a store
  /// would be a third of its time.
  public mutating func replaceAll(with bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe replaceSubrange(0..<count, with: $0) }
  }

  /// Appends the UTF-8 of a literal.
  ///
  /// That of a `String` costs several times as much, as it can be in memory in more than one way.
  public mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { unsafe append(contentsOf: $0) }
  }
}

extension OutputSpan<UInt8> {
  /// Appends the UTF-8 of a literal.
  ///
  /// - Precondition: There is room for it.
  @inlinable
  public mutating func append(_ literal: StaticString) {
    unsafe withUnsafeMutableBufferPointer { memory, count in
      literal.withUTF8Buffer { bytes in
        count += unsafe memory.extracting(count...).initialize(fromContentsOf: bytes)
      }
    }
  }

  /// Appends bytes, all at once.
  ///
  /// - Precondition: There is room for them.
  @inlinable
  public mutating func append(_ bytes: Span<UInt8>) {
    unsafe withUnsafeMutableBufferPointer { memory, count in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        count += unsafe memory.extracting(count...).initialize(fromContentsOf: bytes)
      }
    }
  }
}
