public import Bytes
import Files
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

/// Which bodies an archive contains, and so what it means if an entry has none.
public enum ArchivedBodies: String, Hashable, Sendable, CaseIterable {
  /// All bodies that the cache had: it had none for such an entry.
  case all
  /// No bodies: the archive does not record which entries had one.
  case none
  /// The bodies that were found in what a cache no longer shows: the body of such an entry is lost.
  case recovered
}

/// Throws if a signal arrived. Signals are held back so that partial files can be removed before the process ends.
///
/// Every loop over the bytes of a body or an archive calls it once per chunk.
func checkSignals() throws(FileError) {
  if HeldSignals.areWaiting { throw .interrupted(at: "body") }
}

/// An error from reading or writing an archive.
public struct ResponseArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The file is not an archive of a known kind.
    case notAnArchive = "not-an-archive"
    /// The archive needs a newer version of this program.
    case tooNew = "too-new"
    /// The archive is damaged, truncated or malformed.
    case damaged = "damaged-archive"
    /// The archive exceeds a limit.
    case limit
    /// The archive cannot be written.
    case cannotWrite = "cannot-write"
  }

  /// The kind of failure.
  public let kind: Kind

  /// The path of the archive; `nil` while writing one.
  public let path: String?

  /// What happened. It quotes nothing from the archive except digits and names that this program defines.
  public let description: String

  /// What the user can do, if that does not follow from the kind.
  public let hint: String?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - path: The path of the archive; `nil` while writing one.
  ///   - fact: What happened. It must quote nothing from the archive except digits and names that this program
  ///     defines.
  ///   - hint: What the user can do, if that does not follow from the kind.
  public init(_ kind: Kind, at path: String? = nil, _ fact: String, hint: String? = nil) {
    self.hint = hint
    self.kind = kind
    self.path = path
    description = path.map { "'\($0)': \(fact)" } ?? fact
  }
}

/// A record of an archive that does not match a digest, and is left out.
///
/// Records before and after it are read: the digest covers only the contents of the record, and its length was right.
public struct DamagedRecord: Hashable, Sendable {
  /// The number of the record in the archive, starting at 1.
  public let number: Int64

  /// Where the record is, for display: `byte 1234`.
  public let place: String

  /// The URL of the record.
  public let url: ByteString?

  /// What is wrong: a clause without text from the archive.
  public let reason: String

  // A hostile file could have millions of them; their number is counted as an omission.
  /// The maximum number of records that an archive names.
  static let mostNamed = 1_000

  /// The description without the URL: `record 7 at byte 1234 does not match the digest of its payload`.
  public var description: String { "record \(number) at \(place) \(reason)" }
}

extension Finding.Code {
  /// A record that was changed or damaged after its digest was made.
  public static let wrongDigest = Self(
    "wrong-digest", .error,
    "the record was damaged or changed after it was written; it is left out")
}
