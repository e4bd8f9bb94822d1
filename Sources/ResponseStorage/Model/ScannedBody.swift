/// The body of a response that is being processed.
public struct ScannedBody {
  private let reading: ((inout BodyReader) throws -> Void) throws -> Bool

  /// Creates a body.
  ///
  /// - Parameter reading: Passes the body to its argument; returns `false` if there is no body.
  public init(reading: @escaping ((inout BodyReader) throws -> Void) throws -> Bool) {
    self.reading = reading
  }

  /// Creates the body of a response in the form of its store.
  public init(of raw: RawResponse) {
    self.init { read in
      guard var reader = try raw.part(.body)?.content?.makeReader() else { return false }
      try read(&reader)
      return true
    }
  }

  /// Passes the body to `read`, which reads it in chunks.
  ///
  /// - Returns: Whether there is a body.
  /// - Throws: ``StoreError`` if the store cannot be read, or any error of `read`.
  public func read(_ read: (inout BodyReader) throws -> Void) throws -> Bool { try reading(read) }
}

extension ResponseSource {
  /// Returns the body of a response of this source.
  public func body(of response: borrowing StoredResponse) -> ScannedBody {
    let response = copy response
    return ScannedBody { read in
      if response.decoded.contains(.body), response.bodyLocation == .missing { return false }
      var wasOpened = false
      do {
        try withBody(of: response) { reader in
          wasOpened = true
          try read(&reader)
        }
      } catch let error as StoreError
        where !wasOpened && (error.code == .noSuchResponse || error.code == .damaged)
      {
        // Only these two mean that there is no body.
        return false
      }
      return true
    }
  }
}
