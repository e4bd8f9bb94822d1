extension Array<UInt8> {
  /// Replaces all elements by a copy of `bytes`, and reuses the memory.
  ///
  /// The standard library copies a buffer at once but a span byte by byte, which would take a third of the
  /// time of reading a row of a store.
  public mutating func replaceAll(with bytes: Span<UInt8>) {
    // Replacing the range, and not assigning a new array, keeps the memory of the old one.
    unsafe bytes.withUnsafeBufferPointer { unsafe replaceSubrange(0..<count, with: $0) }
  }

  /// Appends the UTF-8 of a literal.
  ///
  /// Appending a `String` costs several times as much, as it has several representations in memory.
  public mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { unsafe append(contentsOf: $0) }
  }

  /// Appends the UTF-8 of three literals with one check of the capacity.
  public mutating func append(_ first: StaticString, _ second: StaticString, _ third: StaticString)
  {
    let count = first.utf8CodeUnitCount + second.utf8CodeUnitCount + third.utf8CodeUnitCount
    append(addingCapacity: count) { (output: inout OutputSpan<UInt8>) in
      unsafe output.withUnsafeMutableBufferPointer { memory, initialized in
        // The array has room for all three.
        var place = unsafe memory.baseAddress.unsafelyUnwrapped + initialized
        unsafe place.initialize(from: first.utf8Start, count: first.utf8CodeUnitCount)
        unsafe place += first.utf8CodeUnitCount
        unsafe place.initialize(from: second.utf8Start, count: second.utf8CodeUnitCount)
        unsafe place += second.utf8CodeUnitCount
        unsafe place.initialize(from: third.utf8Start, count: third.utf8CodeUnitCount)
        initialized += count
      }
    }
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

  /// Appends bytes with a single copy.
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
