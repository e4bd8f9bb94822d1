// Feeds random bytes to the keyed archive reader and the response decoder. `run.sh` builds it together with their
// sources as one module, because libFuzzer provides its own `main`.

import Bytes

/// Small enough for thousands of runs per second, and for reaching every limit.
private let limits = PropertyListLimits(
  maximumBytes: 4096, maximumDepth: 16, maximumVisits: 2000, maximumDecodedBytes: 1 << 15)

/// Reads `bytes` in every way. Errors are expected; a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyedArchives(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let whole = decoded(bytes)
  if let whole { check(whole) }
  let name = StoredResponse.ID(String(decoding: bytes, as: UTF8.self))
  if case .file(let id)? = name {
    require(FoundationFileName(of: id)?.id == id, "an id names one file, which has that id")
  }
  do {
    let condensed = try CondensedPropertyList(
      size: Int64(count), limits: limits, leavingOut: 16
    ) { range in
      require(range.lowerBound >= 0, "nothing is read before the file")
      let range = range.clamped(to: 0..<Int64(count))
      return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
    require(
      condensed.leftOut.values.allSatisfy { $0.lowerBound >= 8 && $0.upperBound <= count },
      "what is left out is in the file")
    let part = decoded(condensed.bytes, leavingOut: condensed.leftOut)
    if condensed.leftOut.isEmpty, let whole, let part {
      require(same(whole, part), "a list of which nothing is left out stays the same")
    }
  } catch {
    require(!"\(error)".isEmpty, "an error has words")
  }
  return 0
}

/// Returns the response in an archive.
private func decoded(
  _ bytes: [UInt8], leavingOut leftOut: [Int: Range<Int64>] = [:]
) -> StoredResponse? {
  var response = StoredResponse(id: .row(0))
  do {
    let list = try BinaryPropertyList(bytes.span, limits: limits)
    let archive = try KeyedArchive(list, leftOut: leftOut)
    exercise(archive)
    response.decodeArchive(archive, .all)
  } catch {
    require(!"\(error)".isEmpty, "an error has words")
    return nil
  }
  return response
}

/// Writes a response and reads it again. A response that survives this once must survive it every time.
private func check(_ response: StoredResponse) {
  guard let once = rewritten(response), let twice = rewritten(once) else { return }
  require(same(once, twice), "what was written and read is the same")
}

private func rewritten(_ response: StoredResponse) -> StoredResponse? {
  guard let url = response.url, let created = Timestamp(secondsSince2001: 0) else { return nil }
  var archive = FoundationArchive(
    url: url, status: response.status, headers: response.responseHeaders ?? HeaderFields(),
    mimeType: response.mimeType, body: [1], created: created)
  archive.userInfo = response.userInfo
  let bytes = archive.bytes
  require(archive.bytes == bytes, "the same archive, the same bytes")
  return decoded(bytes)
}

private func same(_ first: StoredResponse, _ second: StoredResponse) -> Bool {
  // Compare text, because NaN does not equal itself.
  "\(withoutPlaces(first))" == "\(withoutPlaces(second))"
}

/// Returns the response without the offsets in its notes.
private func withoutPlaces(_ response: StoredResponse) -> StoredResponse {
  var response = response
  response.notes = response.notes.map { .init($0.code, "") }
  return response
}

private func exercise(_ archive: borrowing KeyedArchive) {
  let root = archive.root
  _ = try? archive.value(of: root)
  _ = try? archive.className(of: root)
  for name in ["response", "data", "userInfo", "date", "storagePolicy"] as [PropertyListKey] {
    guard let object = try? archive.member(name, of: root) else { continue }
    _ = try? archive.value(of: object)
    _ = try? archive.number(object)
    _ = try? archive.textEntries(of: object)
    if let texts = try? archive.url(object) {
      require(!texts.isEmpty && texts.count <= limits.maximumDepth, "a URL has few bases")
      require(
        texts.reduce(0) { $0 + $1.count } <= limits.maximumDecodedBytes, "a URL is bounded")
    }
    if let size = try? archive.dataCount(object) {
      require((try? archive.data(object))?.count == size, "data has as many bytes as it says")
    }
    if let count = try? archive.elementCount("NS.keys", of: object),
      let objects = try? archive.objects("NS.keys", of: object)
    {
      require(objects.count <= count, "no more objects than elements")
    }
  }
  let hazards = [FoundationCrash.find(in: archive), FoundationCrash.find(in: archive)]
  require(hazards[0] == hazards[1], "a hazard is found each time")
}

private func require(_ condition: Bool, _ words: String) {
  guard condition else { fatalError("not true: \(words)") }
}
