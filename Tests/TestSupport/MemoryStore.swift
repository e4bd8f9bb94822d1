public import Bytes
import HTTPCaching
public import ResponseStorage

/// A store of responses in memory, which commands read like any other store.
///
/// As in a store on disk, a scan only returns the fields of its projection.
public struct MemoryStore: StoreSource {
  /// The responses, in ascending order of their ids.
  public let responses: [StoredResponse]

  /// The bodies, by response id.
  public var bodies: [StoredResponse.ID: [UInt8]] = [:]

  /// The findings about the store as a whole.
  public var findings: [Finding] = []

  /// The size on disk.
  public var size = Footprint()

  /// What each response takes of the pages of a database, in bytes.
  public var pagesOfEntry: ByteCount = 0

  /// The maximum number of responses in a tally, to force several; `nil` for one tally.
  public var tallyLength: Int?

  /// The number of responses after which reading fails because of damage; `nil` if the store is whole.
  public var damage: Int?

  /// How many entries the store has ever had; `nil` if it does not count them.
  public var everStored: Int64?

  public var description = StoreDescription(path: "memory", format: .apple, schemaVersion: 203)

  /// Creates a store with responses.
  public init(_ responses: [StoredResponse] = []) {
    self.responses = responses.sorted { $0.id < $1.id }
  }

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for response in responses.prefix(damage ?? .max) {
      guard try body(response.projected(to: projection, taking: pagesOfEntry)) == .next else {
        return
      }
    }
    try failIfDamaged()
  }

  private func failIfDamaged() throws {
    if damage != nil { throw StoreError(.damaged, at: description.path, because: "it is damaged") }
  }

  public func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep
  ) throws {
    var length = 0
    var tally = tally
    for response in responses.prefix(damage ?? .max) {
      guard
        tally.choose(
          response.projected(to: request.choosing ?? request.projection, taking: pagesOfEntry))
      else {
        continue
      }
      tally.insert(response.projected(to: request.projection, taking: pagesOfEntry))
      length += 1
      guard tally.isFull || length == tallyLength else { continue }
      length = 0
      if try body(&tally) == .stop { return }
    }
    if try body(&tally) == .next { try failIfDamaged() }
  }

  public func entriesEverStored() -> Int64? { everStored }

  public func response(_ id: StoredResponse.ID, _ projection: Projection) -> StoredResponse? {
    var (low, high) = (0, responses.count)
    while low < high {
      let middle = (low + high) / 2
      if responses[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < responses.count, responses[low].id == id else { return nil }
    return responses[low].projected(to: projection, taking: pagesOfEntry)
  }

  public func count() -> Int64 { Int64(responses.count) }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard let bytes = bodies[id] else { throw StoreError(.noSuchResponse, at: description.path) }
    var reader = BodyReader(bytes)
    try read(&reader)
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) -> [UInt8]? { nil }

  public func footprint() -> Footprint { size }

  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) rethrows {
    for finding in findings { try body(finding) }
  }

  public func finish() {}

  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    throw AdmissionRefusal("it is a store in memory")
  }

  public func standingResponse(forKey key: ByteString) -> StandingResponse? { nil }

  public func standingResponse(withoutKey number: Int64) -> StandingResponse? { nil }
}

extension StoredResponse {
  /// Returns the response with only the fields of a projection.
  fileprivate func projected(
    to projection: Projection, taking pages: ByteCount
  ) -> StoredResponse {
    var result = StoredResponse(id: id, decoding: projection)
    if projection.contains(.share) {
      let size = bodySize ?? 0
      result.share =
        if let file {
          EntryShare(file: file.size)
        } else if bodyLocation == .file {
          EntryShare(pages: pages, file: size)
        } else {
          EntryShare(pages: pages + size)
        }
    }
    if projection.contains(.key) { result.key = key }
    if projection.contains(.firstStored) { result.firstStored = firstStored }
    if projection.contains(.storage) {
      (result.storagePolicy, result.partition) = (storagePolicy, partition)
    }
    if projection.contains(.url) { result.url = url }
    if projection.contains(.stored) { result.stored = stored }
    if projection.contains(.status) { result.status = status }
    if projection.contains(.mimeType) { result.mimeType = mimeType }
    if !projection.isDisjoint(with: [.freshnessFields, .cachingFields]) {
      let names =
        projection.contains(.cachingFields) ? FieldName.ofResponse : FieldName.ofFreshness
      result.responseHeaders = responseHeaders.map { headers in
        HeaderFields(
          headers.fields.filter { field in
            names.contains { $0.matches(field.name.bytes) }
          })
      }
    }
    if !projection.isDisjoint(with: [.responseHeaders, .screenedFields, .contentFields]) {
      result.responseHeaders = responseHeaders
    }
    if projection.contains(.requestDetails) {
      result.request.url = request.url
      result.request.cachePolicy = request.cachePolicy
      result.request.timeoutSeconds = request.timeoutSeconds
      result.request.body = request.body
    }
    result.request.method = projection.contains(.method) ? request.method : nil
    result.request.headers =
      projection.isDisjoint(with: [.requestHeaders, .cachingFields, .screenedFields])
      ? nil : request.headers
    if projection.contains(.body) {
      (result.bodySize, result.bodyLocation) = (bodySize, bodyLocation)
      result.bodyFileName = bodyFileName
    }
    if projection.contains(.userInfo) { result.userInfo = userInfo }
    if projection.contains(.protocolProperties) { result.protocolProperties = protocolProperties }
    if projection.contains(.file) { result.file = file }
    if projection.contains(.notes) { result.notes = notes }
    return result
  }
}
