import Bytes

/// The records of a WARC file that may become entries. They are matched when all are known, because either of two
/// related records may refer to the other, in any order.
///
/// Each is a few numbers in arrays, about 250 bytes for a response with its request, so that a file with a million
/// records does not need much memory.
struct WARCCandidates {
  /// A request.
  struct Request {
    var record: WARCIndex.Record
    var isGET: Bool
    /// The mark of the cache key.
    var key: WARCMark
  }

  /// The properties of a response that are only needed to match records.
  private struct Response {
    /// The mark of the cache key.
    var key: WARCMark
    var date: Timestamp
    var isGET = true
    /// Whether the response becomes an entry, unless there is a better one with the same key. If `false`, revisits
    /// may still use its body.
    var makesEntry: Bool
    /// The range in `marks` of the ids of its record and of the records captured together with it.
    var ids: Range<Int>
    /// The range in `marks` of the record that it revisits, most reliable first; `nil` if it is not a revisit.
    var revisited: Range<Int>?

    /// Whether a cache would keep this one of two responses with the same key, even if the other was received later.
    func isBetter(than other: Self) -> Bool {
      // Caches are asked for responses to GET, so a later POST must not replace what a GET
      // received.
      isGET == other.isGET ? date > other.date : isGET
    }
  }

  /// The records that become no entry.
  var omissions: [ArchiveOmission] = []

  /// The responses in the order of their records, in two arrays. Only the first is kept at the end.
  private var entries: [WARCIndex.Entry] = []
  private var responses: [Response] = []
  private var marks: [WARCMark] = []
  /// The indices of the responses with bodies, by the marks that a revisit may refer to.
  private var bodies = WARCMarkTable()

  private var requests: [Request] = []
  /// The indices of the requests, by their ids and by the ids of the responses that they refer to.
  private var requestNumbers = WARCMarkTable()

  /// The number of responses.
  var count: Int64 { Int64(entries.count) }

  /// The number of requests.
  var requestCount: Int64 { Int64(requests.count) }

  /// Adds a request.
  mutating func addRequest(_ request: Request, _ header: WARCHeader) {
    for mark in header.ownMarks { requestNumbers.add(requests.count, for: mark) }
    requests.append(request)
  }

  /// Adds a response with a body.
  ///
  /// - Parameters:
  ///   - key: The mark of the cache key.
  ///   - makesEntry: Whether a cache would store it. If `false`, revisits may still use its body.
  mutating func addResponse(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp,
    makesEntry: Bool
  ) {
    for mark in header.bodyMarks { bodies.add(entries.count, for: mark) }
    add(entry, header, of: key, date, makesEntry: makesEntry)
  }

  /// Adds a response whose body is in another record.
  mutating func addRevisit(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp
  ) {
    add(entry, header, of: key, date, makesEntry: true, revisited: header.revisitedMarks)
  }

  private mutating func add(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp,
    makesEntry: Bool, revisited: [WARCMark]? = nil
  ) {
    entries.append(entry)
    responses.append(
      Response(
        key: key, date: date, makesEntry: makesEntry, ids: append(header.ownMarks),
        revisited: revisited.map { append($0) }))
  }

  private mutating func append(_ new: [WARCMark]) -> Range<Int> {
    marks += new
    return marks.count - new.count..<marks.count
  }

  /// Matches the records.
  ///
  /// - Returns: The entries in the order of their records; for each key, the one that a cache would keep.
  mutating func makeIndex() -> WARCIndex {
    resolveRevisits()
    resolveRequests()
    keepBest()
    return WARCIndex(entries: entries, omissions: omissions)
  }

  /// Finds the bodies of revisits.
  private mutating func resolveRevisits() {
    bodies.sort()
    for number in responses.indices {
      guard let revisited = responses[number].revisited else { continue }
      guard let place = bodies.number(ofFirst: marks[revisited]) else {
        // Web archives deduplicate across files, so a single file often lacks the record that has
        // the body.
        omissions.add("the record that it revisits is missing")
        responses[number].makesEntry = false
        continue
      }
      entries[number].takeBody(of: entries[place])
    }
    bodies = WARCMarkTable()
  }

  /// Finds the requests of responses.
  private mutating func resolveRequests() {
    requestNumbers.sort()
    for number in responses.indices {
      guard let place = requestNumbers.number(ofFirst: marks[responses[number].ids]) else {
        continue
      }
      entries[number].request = requests[place].record
      // A cache looks responses up by the URL of their request.
      (responses[number].key, responses[number].isGET) = (
        requests[place].key, requests[place].isGET
      )
    }
    (marks, requests, requestNumbers) = ([], [], WARCMarkTable())
  }

  /// Removes all responses with the same key except the one that a cache would keep.
  private mutating func keepBest() {
    // A crawl often contains a URL several times, and a cache keeps one response for a key.
    var best: [WARCMark: Int] = [:]
    for number in responses.indices where responses[number].makesEntry {
      let key = responses[number].key
      if let other = best[key] {
        omissions.add("there is another response for the same URL")
        if responses[other].isBetter(than: responses[number]) { continue }
      }
      best[key] = number
    }
    var count = 0
    for number in entries.indices where best[responses[number].key] == number {
      entries[count] = entries[number]
      count += 1
    }
    entries.removeLast(entries.count - count)
  }
}

extension WARCIndex.Entry {
  /// Uses the body of the response that this one revisits.
  fileprivate mutating func takeBody(of other: Self) {
    (body, isBodyDecoded) = (other.body, other.isBodyDecoded)
    (size, sha256) = (other.size, other.sha256)
  }
}
