public import ResponseStorage

/// A cache to import from, read like an archive of all of its entries.
///
/// Entries whose columns cannot be read have a ``RawResponse/finding``, and are passed on too.
public final class StoreArchive: ResponseArchive {
  private let source: any ResponseSource

  /// The ids of the entries, in order, after the first complete pass.
  private var ids: [Int64]?

  public let limits: ArchiveLimits

  /// Wraps a cache that is open for reading.
  public init(_ source: any ResponseSource, limits: ArchiveLimits) {
    self.source = source
    self.limits = limits
  }

  public var description: StoreDescription { source.description }

  public var rawLayout: RawLayout {
    get throws { try source.rawLayout }
  }

  public var restoresCaches: Bool { true }

  /// Empty: everything that is skipped is an entry of the cache, and is counted as one.
  public var omissions: [ArchiveOmission] { [] }

  public func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    let changed = StoreError(
      .changedWhileReading, at: description.path, because: "its entries changed")
    var found: [Int64] = []
    var isStopped = false
    try source.forEachRawResponse([], where: { _ in true }) { raw in
      // A second pass must see the entries of the first: files in a Foundation cache can disappear in between.
      if let ids, found.count >= ids.count || ids[found.count] != raw.id { throw changed }
      found.append(raw.id)
      // A cache that is imported directly is as untrusted as an archive.
      try limits.check(Int64(found.count), .entries, at: description.path)
      let step = try body(Self.interruptible(raw))
      isStopped = step == .stop
      return step
    }
    if isStopped { return }
    guard ids == nil || ids?.count == found.count else { throw changed }
    ids = found
  }

  /// Returns the response with a body whose reads stop on signals.
  private static func interruptible(_ raw: RawResponse) -> RawResponse {
    guard let index = raw.parts.firstIndex(where: { $0.name == .body }),
      let body = raw.parts[index].content, body.bytes == nil
    else { return raw }
    var raw = raw
    raw.parts[index].content?.endsOnSignals = true
    return raw
  }

  public func footprint() throws -> Footprint { try source.footprint() }

  public func finish() throws { try source.finish() }
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
        try body(StoredResponse(decoding: raw, projection), ScannedBody(of: raw))
      }
    }
    try scan(projection.union(.body)) { response in
      try body(response, self.body(of: response))
    }
  }
}
