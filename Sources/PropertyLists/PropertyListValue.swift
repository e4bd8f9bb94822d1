/// A property list, or the contents of a keyed archive, as a tree of values.
public indirect enum PropertyListValue: Hashable, Sendable {
  /// One entry of a dictionary.
  public struct Entry: Hashable, Sendable {
    /// The key, in UTF-8.
    public var key: [UInt8]
    /// The value.
    public var value: PropertyListValue

    /// Creates an entry.
    public init(key: [UInt8], value: PropertyListValue) {
      self.key = key
      self.value = value
    }
  }

  /// The absence of a value.
  case null
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int64)
  /// A real number, which may not be finite.
  case real(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// Any bytes.
  case data([UInt8])
  /// The UTF-8 of a string; a string that was read may be invalid UTF-8 (see ``BinaryPropertyList/utf8(_:)``).
  case string([UInt8])
  /// Elements in order.
  case array([PropertyListValue])
  /// Entries in order; a key may occur more than once.
  case dictionary([Entry])
  /// A reference in a keyed archive.
  case uid(UInt64)
  /// A description of an archived object that has no property list value: the name of its class, or the number of bytes
  /// that were not read. Never written.
  case opaque(String)

  /// A string.
  public static func text(_ string: String) -> PropertyListValue { .string(Array(string.utf8)) }
}

extension BinaryPropertyList {
  /// The whole tree below an object.
  ///
  /// - Throws: ``PropertyListError`` if the tree contains a set or damage, or exceeds a limit. A shared object counts
  ///   each time, so that a small list cannot become a large tree.
  /// - Complexity: O(*n*), where *n* is the size of the tree, which the limits bound.
  public func value(of object: Object) throws(PropertyListError) -> PropertyListValue {
    var visits = 0
    var decoded = 0
    var path: [Int] = []
    return try value(of: object, &path, &visits, &decoded)
  }

  private func value(
    of object: Object, _ path: inout [Int], _ visits: inout Int, _ decoded: inout Int
  ) throws(PropertyListError) -> PropertyListValue {
    let head = try head(of: object)
    try visit(head, &visits)
    switch try kind(of: head) {
    case .null: return .null
    case .boolean: return .boolean(head.marker == 0x09)
    case .integer: return .integer(try integer(head))
    case .real: return .real(try real(head))
    case .date: return .date(try date(head))
    case .uid: return .uid(try uid(head))
    case .data:
      try check(head, size: 1, count: head.count)
      try count(head.count, of: head, in: &decoded)
      return .data(copy(head.payload..<head.payload + head.count))
    case .string: return .string(try string(head, &decoded))
    case .set: throw PropertyListError(.unsupportedType, at: head.offset)
    case .array:
      try check(head, size: referenceSize, count: head.count)
      try enter(object, head, &path)
      var values: [PropertyListValue] = []
      for position in 0..<head.count {
        values.append(try value(of: reference(position, head), &path, &visits, &decoded))
      }
      path.removeLast()
      return .array(values)
    case .dictionary:
      try checkDictionary(head)
      try enter(object, head, &path)
      var entries: [PropertyListValue.Entry] = []
      for position in 0..<head.count {
        let key = try self.head(of: reference(position, head))
        try visit(key, &visits)
        // A property list of CoreFoundation has string keys only.
        guard key.type == 0x5 || key.type == 0x6 else {
          throw PropertyListError(.malformed, at: key.offset)
        }
        let name = try string(key, &decoded)
        let value = try value(
          of: reference(head.count + position, head), &path, &visits, &decoded)
        entries.append(.init(key: name, value: value))
      }
      path.removeLast()
      return .dictionary(entries)
    }
  }

  private func visit(_ head: Head, _ visits: inout Int) throws(PropertyListError) {
    visits += 1
    guard visits <= limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: head.offset)
    }
  }

  private func string(_ head: Head, _ decoded: inout Int) throws(PropertyListError) -> [UInt8] {
    // Check before decoding: a UTF-16 unit becomes at most three bytes of UTF-8.
    try check(head, size: head.type == 0x5 ? 1 : 2, count: head.count)
    try count(head.count * (head.type == 0x5 ? 1 : 3), of: head, in: &decoded)
    return try utf8(head)
  }

  private func count(
    _ bytes: Int, of head: Head, in decoded: inout Int
  ) throws(PropertyListError) {
    decoded += bytes
    guard decoded <= limits.maximumDecodedBytes else {
      throw PropertyListError(.tooLarge, at: head.offset)
    }
  }

  /// Enters a container, and checks for cycles and the maximum depth.
  private func enter(
    _ object: Object, _ head: Head, _ path: inout [Int]
  ) throws(PropertyListError) {
    // A linear search, as the path has at most `maximumDepth` elements.
    guard !path.contains(object.index) else { throw PropertyListError(.cyclic, at: head.offset) }
    guard path.count < limits.maximumDepth else {
      throw PropertyListError(.tooDeep, at: head.offset)
    }
    path.append(object.index)
  }
}
