extension BinaryPropertyList {
  /// The number of elements of an array or a set, or of entries of a dictionary; `nil` if the object
  /// is of another type.
  public func count(of object: Object) throws(PropertyListError) -> Int? {
    let head = try head(of: object)
    switch head.type {
    case 0xA, 0xC: try check(head, size: referenceSize, count: head.count)
    case 0xD: try checkDictionary(head)
    default: return nil
    }
    return head.count
  }

  /// An element of an array; `nil` beyond its end, or if the object is of another type.
  public func element(_ position: Int, of array: Object) throws(PropertyListError) -> Object? {
    let head = try head(of: array)
    guard head.type == 0xA, position >= 0, position < head.count else { return nil }
    try check(head, size: referenceSize, count: head.count)
    return try reference(position, head)
  }

  /// The value of the first entry of a dictionary that has the key; `nil` if there is none, or if the
  /// object is of another type.
  ///
  /// - Parameter key: The key, in ASCII.
  /// - Complexity: O(*n*), where *n* is the number of entries.
  public func value(
    forKey key: StaticString, in dictionary: Object
  ) throws(PropertyListError) -> Object? {
    let head = try head(of: dictionary)
    guard head.type == 0xD else { return nil }
    try checkDictionary(head)
    guard head.count <= limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: head.offset)
    }
    for position in 0..<head.count
    where try isString(reference(position, head), equalTo: key) {
      return try reference(head.count + position, head)
    }
    return nil
  }

  /// Calls `body` with the key and the value of each entry of a dictionary, in their order; does
  /// nothing if the object is of another type.
  ///
  /// - Throws: ``PropertyListError``, also if there are more entries than objects may be visited.
  public func forEachEntry(
    in dictionary: Object,
    _ body: (_ key: Object, _ value: Object) throws(PropertyListError) -> Void
  ) throws(PropertyListError) {
    let head = try head(of: dictionary)
    guard head.type == 0xD else { return }
    try checkDictionary(head)
    guard head.count <= limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: head.offset)
    }
    for position in 0..<head.count {
      try body(reference(position, head), reference(head.count + position, head))
    }
  }

  /// Whether an object is a string with the given text, in ASCII.
  public func isString(
    _ string: Object, equalTo text: StaticString
  ) throws(PropertyListError) -> Bool {
    let head = try head(of: string)
    let count = text.utf8CodeUnitCount
    guard head.count == count, head.type == 0x5 || head.type == 0x6 else { return false }
    let width = head.type == 0x5 ? 1 : 2
    try check(head, size: width, count: count)
    var position = head.payload
    for unit in text.description.utf8 {
      if width == 2 {
        guard bytes[position] == 0 else { return false }
        position += 1
      }
      guard bytes[position] == unit else { return false }
      position += 1
    }
    return true
  }

  func checkDictionary(_ head: Head) throws(PropertyListError) {
    let (count, overflow) = head.count.multipliedReportingOverflow(by: 2)
    guard !overflow else { throw PropertyListError(.truncated, at: head.offset) }
    try check(head, size: referenceSize, count: count)
  }

  /// The object that a container refers to at a position, which must lie in it.
  func reference(_ position: Int, _ head: Head) throws(PropertyListError) -> Object {
    let offset = head.payload + position * referenceSize
    guard let index = Self.integer(bytes, at: offset, size: referenceSize) else {
      throw PropertyListError(.malformed, at: offset)
    }
    return Object(index: index)
  }
}
