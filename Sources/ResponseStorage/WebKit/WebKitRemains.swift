import Bytes
import Files

/// What a WebKit cache still has of entries without a record: bodies, and URLs in the lists of what pages loaded.
///
/// WebKit unlinks a record before its body, and one that was stopped in between leaves the body. A list names what a
/// page loaded, which was not always stored.
final class WebKitRemains: RemovedEntries {
  private struct Remnant {
    let id: ByteString
    var url: ByteString?
    var body: (path: String, size: ByteCount)?
    let fact: RecoveredFact
  }

  private let store: WebKitStore
  /// In the order of their ids.
  private let remnants: [Remnant]
  private let places: [ByteString: Int]

  let description: StoreDescription
  var damage: StoreError? { nil }
  let searched: String? =
    "searched for bodies without a record, and for URLs that pages loaded; WebKit removes a record"
    + " and its body at once"

  /// Looks for what the cache at a path still has.
  init(_ opening: StoreOpening) throws {
    store = try WebKitStore(opening)
    let files = store.files
    let present = Set(
      files.names.filter { files.folders[$0.folder].hasResponses }.compactMap {
        Base16.decode($0.bytes)
      })
    // The URLs by the names that their records would have.
    var listed: [[UInt8]: (url: ByteString, place: String)] = [:]
    for name in files.names where files.folders[name.folder].hasLists {
      do throws(WebKitFileFinding) {
        let record = try files.file(name)
        let (metadata, bytes) = try record.readMetadata()
        let header = try record.readHeader(metadata, after: bytes)
        guard let list = try? WebKitSubresources(header) else { continue }
        let path = files.path(of: name).utf8.dropFirst(files.root.utf8.count + 1)
        for resource in list.resources where !present.contains(resource.key.hash) {
          guard let url = resource.key.identifier else { continue }
          listed[resource.key.hash] = (url, "list \(String(decoding: Array(path), as: UTF8.self))")
        }
      } catch {
        // `check` reports it.
        continue
      }
    }
    var remnants: [Remnant] = []
    for other in try store.others() where other.kind == .blob || other.kind == .loneBlob {
      guard other.status.kind == .regular else { continue }
      let name = Array(other.path.utf8.dropFirst(files.root.utf8.count + 1))
      let key = name.split(separator: UInt8(ascii: "/")).last.flatMap {
        WebKitFiles.record(ofBlob: Array($0)).flatMap { Base16.decode($0) }
      }
      let id = ByteString(name)
      remnants.append(
        Remnant(
          id: id, url: key.flatMap { listed.removeValue(forKey: $0)?.url },
          body: (other.path, other.status.size),
          fact: RecoveredFact(
            id: .file(id), confidence: .onlyBody, place: String(decoding: name, as: UTF8.self))))
    }
    for (hash, (url, place)) in listed {
      let id = ByteString(Base16.encode(hash, .capital))
      remnants.append(
        Remnant(
          id: id, url: url,
          fact: RecoveredFact(id: .file(id), confidence: .onlyURL, place: place)))
    }
    remnants.sort { $0.id < $1.id }
    self.remnants = remnants
    places = Dictionary(
      zip(remnants.map(\.id), remnants.indices), uniquingKeysWith: { first, _ in first })
    description = store.description
  }

  private func remnant(_ id: StoredResponse.ID) -> Remnant? {
    guard case .file(let id) = id else { return nil }
    return places[id].map { remnants[$0] }
  }

  func fact(of id: StoredResponse.ID) -> RecoveredFact? { remnant(id)?.fact }

  func count() -> Int64 { Int64(remnants.count) }

  private func response(_ remnant: Remnant, _ projection: Projection) -> StoredResponse {
    var response = StoredResponse(id: .file(remnant.id))
    (response.key, response.url) = (remnant.url, remnant.url)
    if let body = remnant.body { (response.bodySize, response.bodyLocation) = (body.size, .file) }
    response.finishDecoding(projection)
    return response
  }

  func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for remnant in remnants {
      WorkCounter.add()
      if try body(response(remnant, projection)) == .stop { return }
    }
  }

  func response(_ id: StoredResponse.ID, _ projection: Projection) -> StoredResponse? {
    remnant(id).map { response($0, projection) }
  }

  func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard let body = remnant(id)?.body else {
      throw StoreError(.noSuchResponse, at: description.path, because: "its body is lost")
    }
    let file = try OpenFile(reading: body.path)
    guard try file.status().kind == .regular else {
      throw StoreError(.noSuchResponse, at: body.path, because: "it is not a regular file")
    }
    var reader = BodyReader(file, size: body.size)
    try read(&reader)
  }

  var rawLayout: RawLayout { store.rawLayout }

  /// There is none: no response is left without its record.
  func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    try scan(projection) { response in
      _ = try isWanted(response)
      return .next
    }
  }

  func rawPropertyList(_ name: String, of id: StoredResponse.ID) -> [UInt8]? { nil }

  func footprint() throws -> Footprint { try store.footprint() }

  func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {}

  func finish() throws {}
}
