extension BinaryPropertyList {
  /// The number of a reference of a keyed archive; `nil` if the object is of another type.
  ///
  /// - Complexity: O(1).
  public func uid(_ object: Object) throws(PropertyListError) -> UInt64? {
    let head = try head(of: object)
    guard head.type == 0x8 else { return nil }
    return try uid(head)
  }
}
