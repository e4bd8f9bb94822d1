extension BinaryPropertyList {
  /// The number of elements of an array or of entries of a dictionary; `nil` for any other object, including a set.
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

  /// The value of the first entry with the key; `nil` if there is none, or if the object is not a dictionary.
  ///
  /// No writer produces equal keys. If a list has them, CoreFoundation uses the first entry too.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries.
  public func value(
    forKey key: PropertyListKey, in dictionary: Object
  ) throws(PropertyListError) -> Object? {
    // A linear search and no index: the dictionaries of a message have two keys, and its header
    // fields some twenty.
    guard let head = try walkedDictionary(dictionary) else { return nil }
    for position in 0..<head.count {
      let offset = try offset(of: reference(position, head))
      guard try isString(at: offset, equalTo: key) else { continue }
      return try reference(head.count &+ position, head)
    }
    return nil
  }

  /// The entries of a dictionary, whose references are known to lie inside the list.
  public struct Entries: Hashable, Sendable {
    /// The number of entries.
    public let count: Int

    fileprivate let payload: Int
  }

  /// The entries of a dictionary, to be read one by one; `nil` for any other object.
  ///
  /// - Throws: ``PropertyListError``, also if there are more entries than `maximumVisits`.
  /// - Complexity: O(1).
  public func entries(of dictionary: Object) throws(PropertyListError) -> Entries? {
    guard let head = try walkedDictionary(dictionary) else { return nil }
    return Entries(count: head.count, payload: head.payload)
  }

  /// The key of the entry at a position, which must be less than the number of entries.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  public func key(_ position: Int, of entries: Entries) throws(PropertyListError) -> Object {
    precondition(position >= 0 && position < entries.count)
    return try reference(position, from: entries.payload)
  }

  /// The value of the entry at a position, which must be less than the number of entries.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  public func value(_ position: Int, of entries: Entries) throws(PropertyListError) -> Object {
    precondition(position >= 0 && position < entries.count)
    return try reference(entries.count &+ position, from: entries.payload)
  }

  /// Whether an object is a string with the text of the key; `false` for any other object.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the text; O(1) if the lengths differ.
  public func isString(
    _ string: Object, equalTo key: PropertyListKey
  ) throws(PropertyListError) -> Bool {
    try isString(at: offset(of: string), equalTo: key)
  }

  /// Whether the object at an offset is a string with the text of the key.
  @inline(__always)
  private func isString(
    at offset: Int, equalTo key: PropertyListKey
  ) throws(PropertyListError) -> Bool {
    // Compare the marker, the length and the first characters in one step: most keys differ there.
    let beginning = Self.word(bytes, at: offset)
    guard beginning & key.mask == key.beginning else {
      // The same text can also be stored as UTF-16, or with a longer length field than CoreFoundation writes.
      let marker = beginning &>> 56
      guard marker == 0x5F || marker &>> 4 == 0x6 else { return false }
      // In most long strings, the third byte is the length. A different length needs no closer look.
      let length = UInt64(truncatingIfNeeded: key.count)
      if beginning &>> 48 == 0x5F10, beginning &>> 40 & 0xFF != length { return false }
      return try hasText(of: key, at: offset)
    }
    let size = key.object.count
    guard size <= objectsEnd &- offset else { throw PropertyListError(.truncated, at: offset) }
    return size <= 8
      || Self.word(bytes, at: offset &+ size &- 8) == key.ending
        && (size <= 16 || hasMiddle(of: key, at: offset))
  }

  private func hasMiddle(of key: PropertyListKey, at offset: Int) -> Bool {
    for index in 8..<key.object.count &- 8 where bytes[offset &+ index] != key.object[index] {
      return false
    }
    return true
  }

  /// Whether the string at an offset has the text of the key.
  private func hasText(
    of key: PropertyListKey, at offset: Int
  ) throws(PropertyListError) -> Bool {
    let string = try head(at: offset)
    guard string.count == key.count else { return false }
    let size = string.type == 0x5 ? 1 : 2
    try check(string, size: size, count: string.count)
    for (index, character) in key.text.enumerated()
    where Self.bits(bytes, at: string.payload &+ index &* size, size: size) != UInt64(character) {
      return false
    }
    return true
  }

  /// The head of a dictionary with at most `maximumVisits` entries; `nil` for any other object.
  @inline(__always)
  private func walkedDictionary(_ dictionary: Object) throws(PropertyListError) -> Head? {
    let head = try head(of: dictionary)
    guard head.type == 0xD else { return nil }
    try checkDictionary(head)
    // Looking up a key visits every entry.
    // A list of 32 MiB can claim millions of entries, all with the same key, and be searched
    // several times for each response.
    guard head.count <= limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: head.offset)
    }
    return head
  }

  @inline(__always)
  func checkDictionary(_ head: Head) throws(PropertyListError) {
    try check(head, size: 2 &* referenceSize, count: head.count)
  }

  /// The object that a container refers to at a position, which must be inside the container.
  @inline(__always)
  func reference(_ position: Int, _ head: Head) throws(PropertyListError) -> Object {
    try reference(position, from: head.payload)
  }

  /// The object that a reference stands for, by its position in the references that begin at `payload`.
  @inline(__always)
  func reference(
    _ position: Int, from payload: Int
  ) throws(PropertyListError) -> Object {
    // The caller has checked the head, so all references are inside the bytes.
    let offset = payload &+ position &* referenceSize
    let index = Self.bits(bytes, at: offset, size: referenceSize)
    // Compared as an unsigned number: eight bytes can hold a reference that is negative as an
    // `Int`.
    guard index < UInt64(truncatingIfNeeded: objectCount) else {
      throw PropertyListError(.malformed, at: offset)
    }
    return Object(index: Int(truncatingIfNeeded: index))
  }
}
