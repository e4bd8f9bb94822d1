public import ResponseStorage

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
        try body(StoredResponse(decoding: raw, projection), ScannedBody(of: raw))
      }
    }
    try scan(projection.union(.body)) { response in
      try body(response, self.body(of: response))
    }
  }
}
