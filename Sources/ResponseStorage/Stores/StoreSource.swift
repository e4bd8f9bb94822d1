/// A store that is open for reading; unlike an archive it finds responses by what they are looked up by, and can take in
/// others.
public protocol StoreSource: ResponseSource, ResponseTarget {
  /// Makes a private copy of the store as it is, to simulate a removal there.
  ///
  /// - Returns: `nil` if stores of this kind cannot be copied.
  /// - Throws: ``StoreError``, `noRoom` also if the copy would take more than half of the room for it.
  func makePrivateCopy() throws -> PrivateCopy?
}

extension StoreSource {
  public func makePrivateCopy() throws -> PrivateCopy? { nil }
}
