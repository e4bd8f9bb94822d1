extension BinaryPropertyList {
  /// The elements of an array, whose references are known to lie inside the list.
  // It has a place and no span, so that it can be kept and passed on. It is checked once, and each
  // element then costs one load.
  public struct Elements: Hashable, Sendable {
    /// The number of elements.
    public let count: Int

    fileprivate let payload: Int
  }

  /// The elements of an array, to be read one by one; `nil` for any other object.
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
  @inline(__always)
  public func element(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Object? {
    // As an unsigned number, a negative position is beyond the end too.
    guard UInt(bitPattern: position) < UInt(bitPattern: elements.count) else { return nil }
    return try reference(position, from: elements.payload)
  }

  /// An element of an array; `nil` beyond its end, or if the object is not an array.
  ///
  /// - Complexity: O(1). To read many elements of one array, get its ``elements(of:)`` once.
  public func element(_ position: Int, of array: Object) throws(PropertyListError) -> Object? {
    guard let elements = try elements(of: array) else { return nil }
    return try element(position, of: elements)
  }

  /// An element of an array as an integer; `nil` beyond the end, or if the element is not an integer.
  ///
  /// - Complexity: O(1).
  public func integer(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Int64? {
    guard let element = try element(position, of: elements) else { return nil }
    return try integerIfAny(head(of: element))
  }

  /// An element of an array as a real number; `nil` beyond the end, or if the element is not a real number.
  ///
  /// - Complexity: O(1).
  public func real(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Double? {
    guard let element = try element(position, of: elements) else { return nil }
    return try realIfAny(head(of: element))
  }
}
