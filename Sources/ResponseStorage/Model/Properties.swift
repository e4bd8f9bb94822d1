public import Bytes

extension [StoredResponse.Property] {
  /// The value under `key`, or `nil` if there is none.
  ///
  /// - Complexity: O(*n*), where *n* is the number of properties.
  public func value(for key: ByteString) -> StoredResponse.PropertyValue? {
    first { $0.key == key }?.value
  }
}
