import Bytes

/// The records of a WARC file that may become entries, until all of them are known: which belong together is said by
/// either of them, in any order.
///
/// Each is a few numbers in arrays, about 250 bytes for a response with its request, so that a file of a million
/// does not need much memory.
struct WARCCandidates {
  /// A request.
  struct Request {
    var place: WARCInput.Place
    var isGET: Bool
    /// What a cache looks its response up by.
    var key: WARCMark
  }

  /// What is known of a response besides its entry.
  private struct Response {
    /// What a cache looks it up by.
    var key: WARCMark
    var date: Timestamp
    var isGET = true
    /// Whether it makes an entry, unless there is a better one of its key; otherwise others may have its body.
    var makesEntry: Bool
    /// Where among all marks those are of its record, and of those made together with it.
    var ids: Range<Int>
    /// Where those are of the record that it is a revisit of, the surest first; `nil` if it is none.
    var revisited: Range<Int>?

    /// Whether of two responses of one key this is the one that a cache would have, though the other came
    /// later.
    func isBetter(than other: Self) -> Bool {
      isGET == other.isGET ? date > other.date : isGET
    }
  }

  /// What makes no entry.
  var omissions: [ArchiveOmission] = []

  /// The responses in the order of their records, in two arrays: the first is what stays of them.
  private var entries: [WARCIndex.Entry] = []
  private var responses: [Response] = []
  private var marks: [WARCMark] = []
  /// The numbers of the responses with bodies, by what a revisit may name them by.
  private var bodies = WARCMarkTable()

  private var requests: [Request] = []
  /// The numbers of the requests by their ids, and by those of the responses that they name.
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

  /// Adds a response that has a body.
  ///
  /// - Parameters:
  ///   - key: What a cache looks it up by.
  ///   - makesEntry: Whether a cache would store it; otherwise others may still refer to its body.
  mutating func addResponse(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp,
    makesEntry: Bool
  ) {
    for mark in header.bodyMarks { bodies.add(entries.count, for: mark) }
    add(entry, header, of: key, date, makesEntry: makesEntry)
  }

  /// Adds a response whose body is elsewhere.
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

  /// Puts together what belongs together.
  ///
  /// - Returns: The entries in the order of their records; of each key the one that a cache would have.
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
        omissions.add("what it is a revisit of is not there")
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
      entries[number].request = requests[place].place
      (responses[number].key, responses[number].isGET) = (
        requests[place].key, requests[place].isGET
      )
    }
    (marks, requests, requestNumbers) = ([], [], WARCMarkTable())
  }

  /// Leaves out all responses of a key but the one that a cache would have.
  private mutating func keepBest() {
    var best: [WARCMark: Int] = [:]
    for number in responses.indices where responses[number].makesEntry {
      let key = responses[number].key
      if let other = best[key] {
        omissions.add("another one of the same URL is there")
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
  /// Takes the body of the response that this one is a revisit of.
  fileprivate mutating func takeBody(of other: Self) {
    (body, isBodyDecoded) = (other.body, other.isBodyDecoded)
    (size, sha256) = (other.size, other.sha256)
  }
}
