public import Bytes
public import ResponseStorage

/// An archive of any kind, read as a store.
public protocol ResponseArchive: ResponseSource {
  /// The limits on the contents of the archive.
  var limits: ArchiveLimits { get }

  /// The records that a cache cannot store, which are skipped.
  var omissions: [ArchiveOmission] { get }

  /// The first records that do not match their digest. They are among the ``omissions``.
  var damagedRecords: [DamagedRecord] { get }

  /// The number of entries that are redirects whose bodies were not recorded.
  var redirectsWithoutBody: Int64 { get }

  /// Whether the entries are exactly those of a cache, broken ones included, so that importing all of them restores
  /// the cache.
  var restoresCaches: Bool { get }

  /// Which bodies the archive contains.
  var bodies: ArchivedBodies { get }

  /// Returns the number of entries.
  ///
  /// - Complexity: O(*n*) with the size of the archive, unless the kind of archive knows it.
  func count() throws -> Int64

  /// Calls `body` with each entry, in the order of the archive and of the ids. No two entries have the same key.
  ///
  /// - Parameters:
  ///   - verifyingBodies: Whether to verify the digests of bodies that `body` does not read.
  ///   - body: Processes an entry. The parts of the entry must be read in order, and before `body` returns.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, or any error that `body` throws.
  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep) throws

  /// Calls `body` with each of some entries that the archive has.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of the entries, in ascending order.
  ///   - body: Processes an entry. The parts of the entry must be read in order, and before `body` returns.
  func forEachEntry(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws
}

/// The entries of an archive or a cache that were skipped for one reason.
public struct ArchiveOmission: Hashable, Sendable {
  /// The reason, as a clause without text from the archive, such as "it has no body".
  public var reason: String

  /// Whether each entry has a partial body, so that data was lost and not only skipped.
  public var isPart: Bool

  /// The number of entries.
  public var count: Int64

  /// Creates an omission.
  public init(_ reason: String, isPart: Bool = false, count: Int64) {
    self.reason = reason
    self.isPart = isPart
    self.count = count
  }
}

extension [ArchiveOmission] {
  /// Counts one more entry for a reason.
  mutating func add(_ reason: String, isPart: Bool = false) {
    if let index = firstIndex(where: { $0.reason == reason }) {
      self[index].count += 1
    } else {
      append(ArchiveOmission(reason, isPart: isPart, count: 1))
    }
  }
}

extension StoreDescription.Format {
  /// A file that entries were exported to.
  public static let archive = Self(rawValue: "archive")
}

// Archives of other programs contain whatever a client received.
extension ResponseArchive {
  public var restoresCaches: Bool { false }

  public var damagedRecords: [DamagedRecord] { [] }

  public var redirectsWithoutBody: Int64 { 0 }

  public var bodies: ArchivedBodies { .all }
}

// Defaults for archives without an index: they are read from the beginning up to the last requested entry.
extension ResponseArchive {
  public func forEachEntry(
    of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep
  ) throws {
    var rest = numbers[...]
    if rest.isEmpty { return }
    try forEachEntry(verifyingBodies: false) { raw in
      // Ids increase, so an archive need not be read to its end for an id that it does not have.
      rest = rest.drop { $0 < raw.id }
      if rest.first == raw.id {
        rest = rest.drop { $0 == raw.id }
        if try body(raw) == .stop { return .stop }
      }
      return rest.isEmpty ? .stop : .next
    }
  }

  /// Calls `body` with the entry of a number, if there is one.
  private func withEntry(_ number: Int64, _ body: (RawResponse) throws -> Void) throws {
    try forEachEntry(of: [number]) { raw in
      try body(raw)
      return .stop
    }
  }

  public func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try forEachEntry(of: Self.numbers(of: ids)) { raw in
      try body(StoredResponse(decoding: raw, projection))
    }
  }

  public func forEachResponseWithBody(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse, ScannedBody) throws -> ScanStep
  ) throws {
    try forEachEntry(of: Self.numbers(of: ids)) { raw in
      try body(StoredResponse(decoding: raw, projection.union(.body)), ScannedBody(of: raw))
    }
  }

  private static func numbers(of ids: [StoredResponse.ID]) -> [Int64] {
    ids.compactMap { if case .row(let number) = $0 { number } else { nil } }
  }

  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    try forEachEntry(verifyingBodies: false) { raw in
      guard try isWanted(StoredResponse(decoding: raw, projection)) else { return .next }
      return try body(raw)
    }
  }

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try forEachEntry(verifyingBodies: false) { raw in
      try body(StoredResponse(decoding: raw, projection))
    }
  }

  public func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?
  {
    guard case .row(let number) = id else { return nil }
    var result: StoredResponse?
    try withEntry(number) { result = StoredResponse(decoding: $0, projection) }
    return result
  }

  public func count() throws -> Int64 {
    var count: Int64 = 0
    try forEachEntry(verifyingBodies: false) { _ in
      count += 1
      return .next
    }
    return count
  }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    var failure: StoreError? = StoreError(.noSuchResponse, at: description.path)
    if case .row(let number) = id {
      try withEntry(number) { raw in
        failure = StoreError(
          .noSuchResponse, at: description.path, because: "the entry has no body")
        guard var reader = try raw.part(.body)?.content?.makeReader() else { return }
        failure = nil
        try read(&reader)
      }
    }
    if let failure { throw failure }
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? {
    guard case .row(let number) = id else { return nil }
    var result: [UInt8]?
    try withEntry(number) { raw in
      let content = RawResponse.Part.Name(rawValue: name).flatMap { raw.part($0)?.content }
      let isBody = name == RawResponse.Part.Name.body.rawValue
      // A column of a property list is bounded by the limits of the archive. A body is not, so only
      // one that is in memory anyway is returned here.
      result = isBody ? content?.bytes : try content?.readAll()
    }
    return result
  }

  /// Does nothing: most errors in an archive end reading it.
  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {}
}
