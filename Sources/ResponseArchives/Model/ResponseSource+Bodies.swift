public import ResponseStorage

/// The body of a response during a scan.
public struct ScannedBody {
  private let reading: ((inout BodyReader) throws -> Void) throws -> Bool

  /// Creates a body.
  ///
  /// - Parameter reading: Passes the body to its argument; returns `false` if there is no body.
  public init(reading: @escaping ((inout BodyReader) throws -> Void) throws -> Bool) {
    self.reading = reading
  }

  /// Passes the body to `read`, which reads it in chunks.
  ///
  /// - Returns: Whether there is a body.
  /// - Throws: ``StoreError`` if the store cannot be read, or any error of `read`.
  public func read(_ read: (inout BodyReader) throws -> Void) throws -> Bool { try reading(read) }
}

extension ResponseSource {
  /// Calls `body` with each response and its body, in ascending order of ids. An archive is read only once.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - body: Processes a response; its body can be read only during the call. Return ``ScanStep/stop`` to end the
  ///     scan.
  /// - Throws: ``StoreError``, or any error of `body`.
  public func scanWithBodies(
    _ projection: Projection,
    _ body: (borrowing StoredResponse, ScannedBody) throws -> ScanStep
  ) throws {
    // To find a single body, an archive is read from its beginning.
    if description.format == .archive {
      return try forEachRawResponse(projection, where: { _ in true }) { raw in
        let content = ScannedBody { read in
          guard var reader = try raw.part(.body)?.content?.makeReader() else { return false }
          try read(&reader)
          return true
        }
        return try body(StoredResponse(decoding: raw, projection), content)
      }
    }
    try scan(projection.union(.body)) { response in
      try body(response, self.body(of: response))
    }
  }

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
