import ResponseStorage

/// The records of a WARC file that may become entries, until all of them are known: which belong together is said by
/// either of them, in any order.
struct WARCCandidates {
  /// A response.
  struct Candidate {
    var entry: WARCIndex.Entry
    /// The id of its record, and those of the records that were made together with it.
    var id: WARCMark?
    var concurrent: [WARCMark]
    /// What a cache looks it up by.
    var key: WARCMark
    var date: Timestamp
  }

  /// A request.
  struct Request {
    var place: WARCInput.Place
    var isGET: Bool
    /// What a cache looks its response up by.
    var key: WARCMark
  }

  /// What makes no entry.
  var omissions: [ArchiveOmission] = []

  private var candidates: [Candidate] = []
  /// Responses that were received before, with what their bodies are known by.
  private var revisits: [(candidate: Candidate, targets: [WARCMark])] = []
  /// Where bodies are, by the ids, the URLs with dates, and the digests of their records.
  private var bodies: [WARCIndex.Entry] = []
  private var bodyIndexes: [WARCMark: Int] = [:]
  /// The requests by their ids, and by those of the responses that they name.
  private var requests: [WARCMark: Request] = [:]

  /// The number of responses.
  var count: Int64 { Int64(max(candidates.count + revisits.count, bodies.count)) }

  /// The number of requests, or less if they name no response.
  var requestCount: Int64 { Int64(requests.count / 2) }

  /// Adds a response that has a body.
  mutating func add(_ candidate: Candidate) {
    candidates.append(candidate)
  }

  /// Adds a body, which others may refer to.
  mutating func addBody(_ entry: WARCIndex.Entry, _ header: WARCHeader) {
    for mark in header.bodyMarks { bodyIndexes[mark] = bodies.count }
    bodies.append(entry)
  }

  /// Adds a response whose body is elsewhere.
  mutating func addRevisit(_ candidate: Candidate, _ header: WARCHeader) {
    revisits.append((candidate, header.revisitedMarks))
  }

  /// Adds a request.
  mutating func addRequest(_ request: Request, _ header: WARCHeader) {
    for id in header.concurrentIDs + [header["warc-record-id"]].compactMap(\.self) {
      requests[WARCMark(id)] = request
    }
  }

  /// Puts together what belongs together.
  ///
  /// - Returns: The entries in the order of their records; of each key the one that a cache would have.
  mutating func makeIndex() -> WARCIndex {
    resolveRevisits()
    var best: [WARCMark: Int] = [:]
    for (index, candidate) in candidates.enumerated() {
      let request = request(of: candidate)
      candidates[index].entry.request = request?.place
      candidates[index].key = request?.key ?? candidate.key
      let key = candidates[index].key
      if let other = best[key], isBetter(candidates[other], than: candidate) { continue }
      best[key] = index
    }
    var index = WARCIndex()
    for (place, candidate) in candidates.enumerated() {
      if best[candidate.key] == place {
        index.entries.append(candidate.entry)
      } else {
        omissions.add("another one of the same URL is there")
      }
    }
    index.omissions = omissions
    return index
  }

  /// Whether of two responses of one key the first is the one that a cache would have.
  private func isBetter(_ first: Candidate, than second: Candidate) -> Bool {
    let (isGET, isOtherGET) = (
      request(of: first)?.isGET ?? true, request(of: second)?.isGET ?? true
    )
    return isGET == isOtherGET ? first.date > second.date : isGET
  }

  private func request(of candidate: Candidate) -> Request? {
    ([candidate.id].compactMap(\.self) + candidate.concurrent).firstValue { requests[$0] }
  }

  private mutating func resolveRevisits() {
    for (revisit, targets) in revisits {
      var candidate = revisit
      guard let index = targets.firstValue({ bodyIndexes[$0] }) else {
        omissions.add("what it is a revisit of is not there")
        continue
      }
      let body = bodies[index]
      candidate.entry.body = body.body
      candidate.entry.isBodyDecoded = body.isBodyDecoded
      (candidate.entry.size, candidate.entry.sha256) = (body.size, body.sha256)
      candidates.append(candidate)
    }
    revisits = []
    candidates.sort { $0.entry.record < $1.entry.record }
  }
}

extension WARCHeader {
  /// The ids of the records that were made together with this one.
  ///
  /// Those beyond the first few are left out: an exchange has a handful, and what is kept for each
  /// of a million records must not be as long as a header can be.
  var concurrentIDs: [ByteString] {
    fields.lazy.filter { $0.name.asciiLowercased == "warc-concurrent-to" }
      .prefix(Self.mostConcurrentIDs).map(\.value)
  }

  private static let mostConcurrentIDs = 8

  /// What a revisit may name the record by.
  fileprivate var bodyMarks: [WARCMark] {
    var marks = [self["warc-record-id"], self["warc-payload-digest"]?.asciiLowercased]
      .compactMap(\.self).map { WARCMark($0) }
    if let uri = targetURI, let date = self["warc-date"] { marks.append(WARCMark(uri, date)) }
    return marks
  }

  /// What a revisit names the record by that it is of, the surest first.
  fileprivate var revisitedMarks: [WARCMark] {
    var marks = [self["warc-refers-to"]].compactMap(\.self).map { WARCMark($0) }
    if let uri = self["warc-refers-to-target-uri"], let date = self["warc-refers-to-date"] {
      marks.append(WARCMark(uri, date))
    }
    if let digest = self["warc-payload-digest"] { marks.append(WARCMark(digest.asciiLowercased)) }
    return marks
  }
}

extension [WARCMark] {
  /// What comes first of all that a table has for the marks.
  fileprivate func firstValue<Value>(_ value: (WARCMark) -> Value?) -> Value? {
    for mark in self { if let value = value(mark) { return value } }
    return nil
  }
}
