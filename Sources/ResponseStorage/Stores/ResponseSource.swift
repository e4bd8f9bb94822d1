public import Bytes

/// Somewhere that stored responses can be read from, in whatever format they are on disk.
///
/// Reading creates, changes and deletes nothing in the store's folder.
public protocol ResponseSource {
  /// What the source is.
  var description: StoreDescription { get }

  /// How the store lays out what ``forEachRawResponse(_:where:_:)`` gives.
  ///
  /// - Throws: ``StoreError``, `unsupported` if it gives nothing.
  var rawLayout: RawLayout { get throws }

  /// Calls `body` with each response, in ascending order of ``StoredResponse/ID``.
  ///
  /// The source drives the loop, so that no cursor outlives the snapshot that it reads. A response
  /// that is damaged is passed on with what is known of it and a note; it is no error.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - body: What to do with a response. Return ``ScanStep/stop`` to end the scan.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep) throws

  /// Has all responses taken in by tallies, on several threads if the store can be read by several.
  ///
  /// - Parameters:
  ///   - request: What to decode of each response, and how to hand over the tallies.
  ///   - tally: What every tally starts as.
  ///   - body: What to do with a tally, on the thread of the caller. It is filled again then, and should be
  ///     empty.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep) throws

  /// Returns one response, or `nil` if the store has none that is called `id`.
  func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?

  /// Calls `body` with each of some responses that the store has.
  ///
  /// - Parameters:
  ///   - ids: What the responses are called, in ascending order.
  ///   - projection: What to decode of each response.
  ///   - body: What to do with a response. Return ``ScanStep/stop`` to leave out the rest.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep) throws

  /// Calls `body` with each wanted response as the store holds it, in ascending order of the ids.
  ///
  /// - Parameters:
  ///   - projection: What to decode for `isWanted`.
  ///   - isWanted: Whether to go on with a response.
  ///   - body: What to do with a response; its parts can be read in their order, and only meanwhile.
  /// - Throws: ``StoreError``, `unsupported` if the format cannot be read so; or whatever the closures throw.
  func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep) throws

  /// Counts the responses, without decoding any.
  func count() throws -> Int64

  /// Passes the body of one response to `read`, which takes it piece by piece.
  ///
  /// - Throws: ``StoreError`` if there is no such response or no such body, or whatever `read`
  ///   throws.
  func withBody(of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void) throws

  /// Returns the bytes of a property list as stored, or `nil` if the store has none there.
  ///
  /// - Parameter name: One of ``StoreDescription/rawPropertyLists``.
  func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]?

  /// Looks at all files that no entry refers to.
  ///
  /// - Parameter now: The time of the system, which files are young or old by.
  func orphans(at now: Timestamp) throws -> OrphanSurvey

  /// Measures what the store takes up on disk.
  func footprint() throws -> Footprint

  /// Calls `body` with what is wrong with the store, beyond what a scan notes of each response.
  ///
  /// Damage is a finding as far as something can still be read, and no error.
  ///
  /// - Parameters:
  ///   - fully: Whether to look at everything, however long that takes.
  ///   - now: The time of the system, which files are young or old by.
  func forEachFinding(
    fully: Bool, now: Timestamp, _ body: (Finding) throws -> Void) throws

  /// Ends the reading: makes sure that all that was read belongs to one state of the store.
  ///
  /// - Throws: ``StoreError`` with ``StoreError/Code/changedWhileReading`` if it does not.
  func finish() throws
}

// What a source does as well as it can without an index, and without threads.
extension ResponseSource {
  public func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep
  ) throws {
    var (tally, step) = (tally, ScanStep.next)
    try scan(request.projection.union(request.choosing ?? [])) { response in
      if tally.choose(response) { tally.insert(response) }
      if tally.isFull { step = try body(&tally) }
      return step
    }
    if step == .next { _ = try body(&tally) }
  }

  public func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for id in ids {
      guard let response = try response(id, projection) else { continue }
      if try body(response) == .stop { return }
    }
  }
}

// What not every format has.
extension ResponseSource {
  public var rawLayout: RawLayout {
    get throws { throw notRaw }
  }

  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws { throw notRaw }

  private var notRaw: StoreError {
    StoreError(
      .unsupported, at: description.path,
      because: "entries of its format cannot be read as they are stored")
  }

  /// Returns an empty survey: the format has no files that an entry could refer to.
  public func orphans(at now: Timestamp) throws -> OrphanSurvey { OrphanSurvey() }
}

/// What a scan does after a response.
public enum ScanStep: Sendable {
  case next
  case stop
}
