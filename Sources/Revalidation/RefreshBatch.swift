import Administration
import Bytes
import Fetching
import HTTPCaching
public import ResponseStorage

/// Stored responses that are refreshed together: read and updated before the store is opened for writing.
public struct RefreshBatch {
  private struct Response {
    var version: ResponseVersion
    var raw: RawResponse
  }

  private var responses: [Response] = []

  /// The stored responses that were not refreshed because they had changed or were already removed.
  public private(set) var skipped: Set<StoredResponse.ID>

  /// Reads stored responses, and creates their replacements.
  ///
  /// - Parameters:
  ///   - entries: The responses to refresh, in ascending order of ids.
  ///   - spool: The spool with the new bodies, which also stores other bodies that are not in memory.
  public init(
    of entries: [RevalidationPlan.Entry], from source: any ResponseSource, _ spool: BodySpool
  ) throws {
    // Skipped until the opposite is known: the entry may be gone, or the app may have stored it
    // anew while the origin was asked. Its newer response must not be replaced by an older one.
    skipped = Set(entries.map { $0.version.id })
    var rest = entries[...]
    var current: RevalidationPlan.Entry?
    try source.forEachRawResponse([.key, .stored, .file]) { response in
      rest = rest.drop { $0.version.id < response.id }
      current = rest.first
      return current?.version.isStill(response) ?? false
    } _: { raw in
      if let entry = current, let new = try Self.refreshed(raw, by: entry, spool) {
        var version = entry.version
        // A file is compared by its number, size and modification time, not by the stored time inside it.
        if case .file = version.id { version.stored = nil }
        responses.append(Response(version: version, raw: new))
        skipped.remove(version.id)
      }
      return rest.count > 1 ? .next : .stop
    }
  }

  /// Writes the responses to the store; if the process is killed, each is either the old or the new one.
  ///
  /// - Parameter shouldStop: Called before each body; `true` cancels the whole batch.
  /// - Throws: ``StoreError``, ``RefreshInterruption``.
  public mutating func carryOut(
    in store: any ResponseStore, unless shouldStop: () -> Bool
  ) throws {
    var staged: [Int: ByteString] = [:]
    do {
      for (index, response) in responses.enumerated() {
        if shouldStop() { throw RefreshInterruption() }
        staged[index] = try store.stage(response.raw)
      }
      // Bodies must be on disk before the rows that refer to them.
      try store.synchronizeStaged(staged.values.sorted())
      var changed: [Int] = []
      try store.insert { insertion in
        changed = []
        for (index, response) in responses.enumerated() {
          let isIn = try insertion.insert(
            response.raw, staged: staged[index], replacing: response.version)
          if !isIn { changed.append(index) }
        }
        // The bodies are on disk already.
        return []
      }
      store.removeStaged(changed.compactMap { staged[$0] })
      skipped.formUnion(changed.map { responses[$0].version.id })
    } catch {
      // Nothing refers to these files yet. Files that stayed behind would be orphans, which take
      // space until somebody cleans up.
      store.removeStaged(Array(staged.values))
      throw error
    }
  }

  /// Returns the replacement of a stored response; `nil` if it cannot be decoded.
  private static func refreshed(
    _ raw: RawResponse, by entry: RevalidationPlan.Entry, _ spool: BodySpool
  ) throws -> RawResponse? {
    guard let response = entry.response,
      let time = Timestamp(secondsSince1970: Double(response.responseTime))
    else { return nil }
    let stored = StoredResponse(decoding: raw, .all)
    // A response that cannot be decoded could only be written anew with less than it has.
    guard let exchange = Exchange(of: stored) else { return nil }
    if let body = entry.joined {
      let fields = exchange.completed(by: response, body).fields
      return raw.completed(by: spool.body(of: body.pieces), HeaderFields(fields), at: time)
    }
    guard response.head.status == 304 else {
      return raw.replaced(by: NewResponse(stored, response, at: time, spool))
    }
    let update = NotModified(
      fields: response.head.fields, requestTime: response.requestTime,
      responseTime: response.responseTime)
    let fields = Freshening(exchange, by: update).exchange.fields
    var new = raw.freshened(HeaderFields(fields), at: time)
    // The store is no longer open for reading when the body is written.
    if let body = new?.part(.body)?.content, body.bytes == nil {
      var pieces: [BodySpool.Piece] = []
      try body.forEachChunk { try spool.append(Array($0), to: &pieces) }
      new?.replaceBody(by: spool.body(of: pieces))
    }
    return new
  }
}

/// A refresh that was cancelled before anything was changed.
public struct RefreshInterruption: Error, Hashable, Sendable {}

extension NewResponse {
  /// Creates the response to a validation request, as a cache stores it.
  fileprivate init(
    _ stored: StoredResponse, _ response: ValidationResponse, at time: Timestamp, _ spool: BodySpool
  ) {
    let ofConnection = connectionFields + response.head.fields.namedByConnection
    let fields = FieldSection(
      response.head.fields.lines.filter { line in
        !ofConnection.contains { $0.matches(line.name) }
          // Beside chunks, servers send lengths of other bytes, which count for nothing (RFC 9112 §6.3).
          && !(FieldName.contentLength.matches(line.name) && response.contradicts(line.value))
      })
    self.init(
      url: response.head.url.isEmpty ? stored.url ?? "" : ByteString(response.head.url),
      status: response.head.status, headers: HeaderFields(fields), stored: time,
      body: spool.body(of: response.body))
    request = stored.request
    partition = stored.partition
  }
}

extension ValidationResponse {
  /// Whether a `Content-Length` is not the length of the body, although the body has no content coding.
  fileprivate func contradicts(_ length: [UInt8]) -> Bool {
    !head.fields.contains(.contentEncoding) && length != Array("\(bodySize)".utf8)
  }
}

/// The connection fields, which are not stored (RFC 9111 §3.1).
private let connectionFields: [FieldName] = [
  "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info",
  "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
]

extension FieldSection {
  /// The fields that `Connection` names (RFC 9110 §7.6.1).
  fileprivate var namedByConnection: [FieldName] {
    values(of: "Connection").flatMap { $0.split(separator: UInt8(ascii: ",")) }
      .map { FieldName($0.filter { $0 != 0x20 && $0 != 0x09 }) }
  }
}

extension HeaderFields {
  /// Creates the fields of a header section, in order.
  fileprivate init(_ section: FieldSection) {
    self.init(
      section.lines.map { Field(name: ByteString($0.name), value: ByteString($0.value)) })
  }
}

extension RawResponse {
  fileprivate mutating func replaceBody(by body: Body) {
    for index in parts.indices where parts[index].name == .body { parts[index].content = body }
  }
}
