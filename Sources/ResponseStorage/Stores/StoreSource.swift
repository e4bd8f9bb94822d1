/// A store that is open for reading. Unlike an archive, it can find a response by its key, and can be a target for
/// others.
public protocol StoreSource: ResponseSource, ResponseTarget {
  /// Creates a private copy of the store for the simulation of a removal.
  ///
  /// - Returns: `nil` if stores of this kind cannot be copied.
  /// - Throws: ``StoreError``, `noRoom` also if the copy would take more than half of the free space.
  func makePrivateCopy() throws -> PrivateCopy?
}

extension StoreSource {
  public func makePrivateCopy() throws -> PrivateCopy? { nil }
}
