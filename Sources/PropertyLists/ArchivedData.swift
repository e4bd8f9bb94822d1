/// The bytes of an archived data object, or where to find them.
public enum ArchivedData: Hashable, Sendable {
  /// A copy of the bytes.
  case bytes([UInt8])

  /// A range of the file that the archive was read from. The data was too large to read into memory.
  case left(Range<Int64>)

  /// The number of bytes.
  public var count: Int64 {
    switch self {
    case .bytes(let bytes): Int64(bytes.count)
    case .left(let range): Int64(range.count)
    }
  }
}

extension KeyedArchive {
  /// Returns the bytes of a data object or an instance of `NSData`; `nil` for any other object.
  public func data(_ object: Object) throws(PropertyListError) -> ArchivedData? {
    guard let plain = try plainData(object) else { return nil }
    if let range = leftOut[plain.index] { return .left(range) }
    guard let bytes = try list.data(plain) else { return nil }
    return .bytes(
      [UInt8](capacity: bytes.count) { (output: inout OutputSpan<UInt8>) in
        for index in bytes.indices { output.append(bytes[index]) }
      })
  }

  /// The number of bytes of a data object or an instance of `NSData`; `nil` for any other object.
  public func dataCount(_ object: Object) throws(PropertyListError) -> Int64? {
    guard let plain = try plainData(object) else { return nil }
    if let range = leftOut[plain.index] { return Int64(range.count) }
    guard let bytes = try list.data(plain) else { return nil }
    return Int64(bytes.count)
  }

  /// The object itself if it is a data object, or the data object inside an instance of `NSData`.
  private func plainData(_ object: Object) throws(PropertyListError) -> Object? {
    switch try list.kind(of: object) {
    case .data: return object
    case .dictionary:
      guard try isInstance(object, of: ["NSData", "NSMutableData"]),
        // swift-corelibs-foundation archives data directly in the list, and also reads an instance
        // with `NS.data`.
        let bytes = try member("NS.data", or: "NS.bytes", of: object),
        try list.kind(of: bytes) == .data
      else { return nil }
      return bytes
    default: return nil
    }
  }
}
