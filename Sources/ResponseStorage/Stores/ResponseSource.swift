public import Bytes

/// A source of stored responses, in any format.
///
/// Reading creates, changes and deletes nothing in the store's folder.
public protocol ResponseSource {
  /// The description of the source.
  var description: StoreDescription { get }

  /// The layout of the responses that ``forEachRawResponse(_:where:_:)`` passes on.
  ///
  /// - Throws: ``StoreError``, `unsupported` if the format has no raw responses.
  var rawLayout: RawLayout { get throws }

  /// Calls `body` with each response, in ascending order of ``StoredResponse/ID``.
  ///
  /// The source runs the loop, so that no cursor outlives the snapshot that it reads. A damaged response
  /// is passed on with what could be read of it and a note; it is not an error.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - body: Processes a response. Return ``ScanStep/stop`` to end the scan.
  /// - Throws: ``StoreError``, or any error of `body`.
  func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep) throws

  /// Calls `body` with each response like ``scan(_:_:)-(Projection,_)``, for a caller that stops after a few: a
  /// store starts no threads for it.
  func scanFirst(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep) throws

  /// Passes all responses to tallies, on several threads if the store allows it.
  ///
  /// - Parameters:
  ///   - request: What to decode of each response, and how to pass on the tallies.
  ///   - tally: The initial value of every tally.
  ///   - body: Processes a tally, on the thread of the caller. It should leave the tally empty, as it is
  ///     filled again.
  /// - Throws: ``StoreError``, after all responses before the damage were passed on, or any error of `body`.
  func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep) throws

  /// Works on all responses and their bodies on several threads, if the store allows it.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - work: The initial value on each thread.
  ///   - receive: Takes the results on the thread of the caller, in the order of the responses.
  /// - Returns: Whether the store allows it; otherwise nothing was done.
  /// - Throws: ``StoreError``, after all results before the damage were passed on, or any error of `work` or `receive`.
  func work<Work: EntryWork>(
    _ projection: Projection, with work: Work,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws -> Bool

  /// Returns one response, or `nil` if the store has none with this id.
  func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?

  /// Calls `body` with each of some responses that the store has.
  ///
  /// - Parameters:
  ///   - ids: The ids of the responses, in ascending order.
  ///   - projection: What to decode of each response.
  ///   - body: Processes a response. Return ``ScanStep/stop`` to skip the rest.
  /// - Throws: ``StoreError``, or any error of `body`.
  func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep) throws

  /// Calls `body` with each of some responses that the store has, and its body.
  ///
  /// - Parameters:
  ///   - ids: The ids of the responses, in ascending order.
  ///   - projection: What to decode of each response.
  ///   - body: Processes a response; its body can be read only during the call. Return ``ScanStep/stop`` to skip
  ///     the rest.
  /// - Throws: ``StoreError``, or any error of `body`.
  func forEachResponseWithBody(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse, ScannedBody) throws -> ScanStep) throws

  /// Calls `body` with each chosen response as it is stored, in ascending order of ids.
  ///
  /// - Parameters:
  ///   - projection: What to decode for `isWanted`.
  ///   - isWanted: Whether to pass a response to `body`.
  ///   - body: Processes a response, whose parts can be read in order, and only during the call.
  /// - Throws: ``StoreError``, `unsupported` if the format has no raw responses; or any error of the closures.
  func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep) throws

  /// Reads all responses as they are stored, like ``forEachRawResponse(_:where:_:)``, on any thread and at the same time
  /// as anything else; `nil` if the source cannot do that.
  var independentReading: (@Sendable ((RawResponse) throws -> ScanStep) throws -> Void)? { get }

  /// Calls `body` with the digest of each entry, in no order.
  ///
  /// Entries with the same digest are equal in everything that a comparison of decoded entries uses.
  ///
  /// - Parameters:
  ///   - includingBodies: Whether the digests depend on the bodies.
  /// - Returns: Whether the store has digests; otherwise `body` is not called.
  func forEachDigest(
    includingBodies: Bool, _ body: (DigestedEntry) throws -> Void
  ) throws -> Bool

  /// Calls `body` with some entries as they are stored, by the ids of ``forEachDigest(includingBodies:_:)``.
  ///
  /// - Throws: ``StoreError``, `unsupported` if the store has no digests; or any error of `body`.
  func forEachRawResponse(of ids: [Int64], _ body: (RawResponse) throws -> Void) throws

  /// Counts the responses, without decoding any.
  func count() throws -> Int64

  /// Returns the number of responses, or `nil` if there are more than `limit` and counting them all would take long.
  func count(upTo limit: Int64) throws -> Int64?

  /// Returns how many entries the store has ever had, as it counts them itself; `nil` if it does not.
  ///
  /// An entry that was replaced counts once if it kept its id.
  func entriesEverStored() throws -> Int64?

  /// Passes the body of one response to `read`, which reads it in chunks.
  ///
  /// - Throws: ``StoreError`` if there is no such response or no such body, or any error of `read`.
  func withBody(of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void) throws

  /// Passes the body of a response of this source to `read`, like ``withBody(of:_:)-(StoredResponse.ID,_)``.
  ///
  /// A store that knows from the response where the body is does not look for it again.
  func withBody(
    of response: borrowing StoredResponse, _ read: (inout BodyReader) throws -> Void) throws

  /// Returns the bytes of a stored property list, or `nil` if the response has none.
  ///
  /// - Parameter name: One of ``StoreDescription/rawPropertyLists``.
  func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]?

  /// Returns all files to which no entry refers.
  ///
  /// - Parameter now: The current time, which determines which files are young.
  func orphans(at now: Timestamp) throws -> OrphanSurvey

  /// Returns the body files that stay when their responses are removed.
  func keptBodyFiles() -> KeptBodyFiles

  /// Measures the size of the store on disk.
  func footprint() throws -> Footprint

  /// Starts to look for damage in the store as a whole, if that can go on while responses are read.
  ///
  /// - Parameter fully: Whether to check everything, which may take long.
  /// - Returns: The search, which must end before the store is closed; `nil` if
  ///   ``forEachFinding(fully:now:after:_:)`` looks for it.
  func searchForDamage(fully: Bool) -> DamageSearch?

  /// Calls `body` with each finding about the store that is not a note of a single response.
  ///
  /// Damage is a finding and no error, as long as something can still be read.
  ///
  /// - Parameters:
  ///   - fully: Whether to check everything, which may take long.
  ///   - now: The current time, which determines which files are young.
  ///   - search: The search that ``searchForDamage(fully:)`` started, whose end is waited for; `nil` if it started none.
  func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws

  /// Ends the reading, and verifies that everything that was read belongs to one state of the store.
  ///
  /// - Throws: ``StoreError`` with ``StoreError/Code/changedWhileReading`` if it does not.
  func finish() throws
}

// Defaults for sources without an index and without threads.
extension ResponseSource {
  public func scanFirst(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws { try scan(projection, body) }

  public func count(upTo limit: Int64) throws -> Int64? { try count() }

  public func work<Work: EntryWork>(
    _ projection: Projection, with work: Work,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws -> Bool { false }

  public func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep
  ) throws {
    var (tally, step) = (tally, ScanStep.next)
    func passOn() throws {
      // If the consumer fails, it must not be called again.
      step = .stop
      step = try body(&tally)
    }
    do {
      try scan(request.projection.union(request.choosing ?? [])) { response in
        if tally.choose(response) { tally.insert(response) }
        if tally.isFull { try passOn() }
        return step
      }
    } catch {
      // The responses before the damage are not lost.
      if step == .next { try passOn() }
      throw error
    }
    if step == .next { try passOn() }
  }

  public func withBody(
    of response: borrowing StoredResponse, _ read: (inout BodyReader) throws -> Void
  ) throws { try withBody(of: response.id, read) }

  public func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for id in ids {
      guard let response = try response(id, projection) else { continue }
      if try body(response) == .stop { return }
    }
  }

  public func forEachResponseWithBody(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse, ScannedBody) throws -> ScanStep
  ) throws {
    try forEachResponse(of: ids, projection.union(.body)) { try body($0, self.body(of: $0)) }
  }
}

// Defaults for formats without these features.
extension ResponseSource {
  public var rawLayout: RawLayout {
    get throws { throw notRaw }
  }

  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws { throw notRaw }

  public var independentReading: (@Sendable ((RawResponse) throws -> ScanStep) throws -> Void)? {
    nil
  }

  public func forEachDigest(
    includingBodies: Bool, _ body: (DigestedEntry) throws -> Void
  ) throws -> Bool { false }

  public func forEachRawResponse(
    of ids: [Int64], _ body: (RawResponse) throws -> Void
  ) throws { throw notRaw }

  private var notRaw: StoreError {
    StoreError(
      .inapplicable, at: description.path,
      because: "entries of this kind of cache cannot be exported with their original bytes")
  }

  public func entriesEverStored() throws -> Int64? { nil }

  public func searchForDamage(fully: Bool) -> DamageSearch? { nil }

  /// Returns an empty set: the files of responses are not shared.
  public func keptBodyFiles() -> KeptBodyFiles { KeptBodyFiles() }

  /// Returns an empty survey: the format has no files that an entry could refer to.
  public func orphans(at now: Timestamp) throws -> OrphanSurvey { OrphanSurvey() }
}

/// What a scan does after a response.
public enum ScanStep: Sendable {
  case next
  case stop
}

/// What a scan decodes, and how it passes responses to tallies.
public struct ScanRequest: Hashable, Sendable {
  /// What to decode of each response that a tally receives.
  public var projection: Projection

  /// What to decode of each response for ``ResponseTally/choose(_:)``; `nil` for ``projection``.
  ///
  /// If the source can read this cheaply, it decodes the rest only for chosen responses.
  public var choosing: Projection?

  /// The order of the tallies.
  public var order: ScanOrder

  /// The total length of property lists, in bytes, after which a tally is passed on even if it is not full. A
  /// source that one thread reads may ignore it.
  public var byteLimit: Int

  /// Creates a request.
  public init(
    _ projection: Projection, choosing: Projection? = nil, in order: ScanOrder,
    byteLimit: Int = .max
  ) {
    self.projection = projection
    self.choosing = choosing
    self.order = order
    self.byteLimit = byteLimit
  }
}

/// The number and order of the tallies that a scan creates.
public enum ScanOrder: Sendable {
  /// Many small tallies, in the order of the responses.
  case ascending
  /// One tally for each thread, and another when one is full: each has any of the responses, in their order.
  case any
}

/// A store that is open for reading. Unlike an archive, it can find a response by its key, and can be a target for
/// others.
public protocol StoreSource: ResponseSource, ResponseTarget {}
