extension BinaryPropertyList {
  /// The number of a keyed archive's reference; `nil` for any other object.
  ///
  /// - Complexity: O(1).
  public func uid(_ object: Object) throws(PropertyListError) -> UInt64? {
    let head = try head(of: object)
    guard head.type == 0x8 else { return nil }
    return try uid(head)
  }
}
