extension BinaryPropertyList {
  /// The number of elements of an array, or of entries of a dictionary; `nil` if the object is of
  /// another type, also if it is a set.
  ///
  /// - Complexity: O(1).
  public func count(of object: Object) throws(PropertyListError) -> Int? {
    let head = try head(of: object)
    switch head.type {
    case 0xA: try check(head, size: referenceSize, count: head.count)
    case 0xD: try checkDictionary(head)
    default: return nil
    }
    return head.count
  }

  /// The elements of an array that is known to lie in the list.
  public struct Elements: Hashable, Sendable {
    /// The number of elements.
    public let count: Int

    fileprivate let payload: Int
  }

  /// The elements of an array, to be asked for one by one; `nil` if the object is of another type.
  ///
  /// - Complexity: O(1).
  public func elements(of array: Object) throws(PropertyListError) -> Elements? {
    let head = try head(of: array)
    guard head.type == 0xA else { return nil }
    try check(head, size: referenceSize, count: head.count)
    return Elements(count: head.count, payload: head.payload)
  }

  /// An element of an array of this list; `nil` beyond its end.
  ///
  /// - Complexity: O(1).
  public func element(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Object? {
    guard position >= 0, position < elements.count else { return nil }
    return try reference(position, from: elements.payload)
  }

  /// An element of an array; `nil` beyond its end, or if the object is of another type.
  ///
  /// - Complexity: O(1). For many elements of one array, ask for its ``elements(of:)`` once.
  public func element(_ position: Int, of array: Object) throws(PropertyListError) -> Object? {
    guard let elements = try elements(of: array) else { return nil }
    return try element(position, of: elements)
  }

  /// The value of the first entry of a dictionary that has the key; `nil` if there is none, or if the
  /// object is of another type.
  ///
  /// Of entries with equal keys, which no writer makes, CoreFoundation keeps the first one too.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries.
  public func value(
    forKey key: PropertyListKey, in dictionary: Object
  ) throws(PropertyListError) -> Object? {
    guard let head = try walkedDictionary(dictionary) else { return nil }
    for position in 0..<head.count {
      let string = try self.head(of: reference(position, head))
      guard string.count == key.count, try isText(string, equalTo: key) else { continue }
      return try reference(head.count &+ position, head)
    }
    return nil
  }

  /// Calls `body` with the key and the value of each entry of a dictionary, in their order; does
  /// nothing if the object is of another type.
  ///
  /// A closure that throws other errors goes with the function of the same name that is generic.
  ///
  /// - Throws: ``PropertyListError``, also if there are more entries than objects may be visited.
  /// - Complexity: O(*n*), where *n* is the number of entries.
  public func forEachEntry(
    in dictionary: Object,
    _ body: (_ key: Object, _ value: Object) throws(PropertyListError) -> Void
  ) throws(PropertyListError) {
    guard let head = try walkedDictionary(dictionary) else { return }
    for position in 0..<head.count {
      try body(reference(position, head), reference(head.count + position, head))
    }
  }

  /// Calls `body` with the key and the value of each entry of a dictionary, in their order; does
  /// nothing if the object is of another type.
  ///
  /// - Throws: What `body` throws, or ``PropertyListError``, also if there are more entries than
  ///   objects may be visited.
  /// - Complexity: O(*n*), where *n* is the number of entries.
  public func forEachEntry<Failure: Error>(
    in dictionary: Object, _ body: (_ key: Object, _ value: Object) throws(Failure) -> Void
  ) throws {
    guard let head = try walkedDictionary(dictionary) else { return }
    for position in 0..<head.count {
      try body(reference(position, head), reference(head.count + position, head))
    }
  }

  /// Whether an object is a string with the text of a key; `false` if it is of another type.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the text; O(1) if the lengths differ.
  public func isString(
    _ string: Object, equalTo key: PropertyListKey
  ) throws(PropertyListError) -> Bool {
    let head = try head(of: string)
    guard head.count == key.count else { return false }
    return try isText(head, equalTo: key)
  }

  /// Whether an object is a string with the text of a key, which has the same count.
  @inline(__always)
  private func isText(
    _ head: Head, equalTo key: PropertyListKey
  ) throws(PropertyListError) -> Bool {
    guard head.type == 0x5 else { return try isWideText(head, equalTo: key) }
    try check(head, size: 1, count: head.count)
    guard head.count > 8 else {
      return head.count == 0
        || Self.bits(bytes, at: head.payload, size: head.count) == key.ending
    }
    return Self.word(bytes, at: head.payload &+ head.count &- 8) == key.ending
      && Self.word(bytes, at: head.payload) == key.beginning
      && (head.count <= 16 || isMiddle(head, of: key))
  }

  private func isMiddle(_ head: Head, of key: PropertyListKey) -> Bool {
    for index in 8..<head.count &- 8 where bytes[head.payload &+ index] != key.ascii[index] {
      return false
    }
    return true
  }

  private func isWideText(
    _ head: Head, equalTo key: PropertyListKey
  ) throws(PropertyListError) -> Bool {
    guard head.type == 0x6 else { return false }
    try check(head, size: 2, count: head.count)
    for index in key.ascii.indices
    where Self.bits(bytes, at: head.payload &+ index &* 2, size: 2) != UInt64(key.ascii[index]) {
      return false
    }
    return true
  }

  /// The head of a dictionary whose entries may all be visited; `nil` if it is of another type.
  @inline(__always)
  private func walkedDictionary(_ dictionary: Object) throws(PropertyListError) -> Head? {
    let head = try head(of: dictionary)
    guard head.type == 0xD else { return nil }
    try checkDictionary(head)
    guard head.count <= limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: head.offset)
    }
    return head
  }

  @inline(__always)
  func checkDictionary(_ head: Head) throws(PropertyListError) {
    try check(head, size: 2 &* referenceSize, count: head.count)
  }

  /// The object that a container refers to at a position, which must lie in it.
  @inline(__always)
  func reference(_ position: Int, _ head: Head) throws(PropertyListError) -> Object {
    try reference(position, from: head.payload)
  }

  @inline(__always)
  private func reference(
    _ position: Int, from payload: Int
  ) throws(PropertyListError) -> Object {
    // The caller has checked the head: all references lie in the bytes.
    let offset = payload &+ position &* referenceSize
    let index = Self.bits(bytes, at: offset, size: referenceSize)
    guard index < UInt64(truncatingIfNeeded: objectCount) else {
      throw PropertyListError(.malformed, at: offset)
    }
    return Object(index: Int(truncatingIfNeeded: index))
  }
}
