import Bytes
import Files

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
    /// Whether the response has no body because the method is HEAD.
    var isHEAD: Bool
    /// The mark of the cache key.
    var key: WARCMark
  }

  /// What a record lacks of the body that its header fields announce.
  enum Lack {
    /// The whole body.
    case body
    /// The body of a redirect, which a cache can do without.
    case bodyOfRedirect
  }

  /// Why a response with a part of its body is left out.
  static let shortBody = "it is shorter than its Content-Length"

  /// The properties of a response that are only needed to match records.
  private struct Response {
    /// The mark of the cache key.
    var key: WARCMark
    var date: Timestamp
    var isGET = true
    /// Whether the response becomes an entry, unless there is a better one with the same key. If `false`, revisits
    /// may still use its body.
    var makesEntry: Bool
    var lack: Lack?
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

  /// The first records that do not match their digest.
  var damaged: [DamagedRecord] = []

  /// The responses in the order of their records, in two arrays. Only the first is kept at the end.
  private var entries: [WARCIndex.Entry] = []
  private var responses: [Response] = []
  private var marks: [WARCMark] = []
  /// The indices of the responses with bodies, by the marks that a revisit may refer to.
  private var bodies = WARCMarkTable()
  /// The indices of the revisits, by the marks that another revisit may refer to.
  private var revisits = WARCMarkTable()

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
  ///   - lack: What the record lacks of its body.
  mutating func addResponse(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp,
    makesEntry: Bool, lack: Lack?
  ) {
    if lack == nil { for mark in header.bodyMarks { bodies.add(entries.count, for: mark) } }
    add(entry, header, of: key, date, makesEntry: makesEntry, lack: lack)
  }

  /// Adds a response whose body is in another record.
  mutating func addRevisit(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp
  ) {
    for mark in header.captureMarks { revisits.add(entries.count, for: mark) }
    add(entry, header, of: key, date, makesEntry: true, revisited: header.revisitedMarks)
  }

  private mutating func add(
    _ entry: WARCIndex.Entry, _ header: WARCHeader, of key: WARCMark, _ date: Timestamp,
    makesEntry: Bool, lack: Lack? = nil, revisited: [WARCMark]? = nil
  ) {
    entries.append(entry)
    responses.append(
      Response(
        key: key, date: date, makesEntry: makesEntry, lack: lack, ids: append(header.ownMarks),
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
    let redirectsWithoutBody = keepBest()
    return WARCIndex(
      entries: entries, omissions: omissions, damaged: damaged,
      redirectsWithoutBody: redirectsWithoutBody)
  }

  /// Finds the bodies of revisits.
  private mutating func resolveRevisits() {
    bodies.sort()
    revisits.sort()
    // The states of the revisits that were followed. Each is followed once, so a chain costs its length.
    var states: [Int: RevisitState] = [:]
    for number in responses.indices where responses[number].revisited != nil {
      var chain: [Int] = []
      var state = RevisitState.following
      var next = number
      while let revisited = responses[next].revisited {
        if let known = states[next] {
          // A revisit that is being followed refers to itself in the end.
          state = known == .following ? .missing : known
          break
        }
        chain.append(next)
        states[next] = .following
        if let place = bodies.number(ofFirst: marks[revisited]) {
          state = .body(place)
          break
        }
        guard let other = revisits.number(ofFirst: marks[revisited]) else {
          state = .missing
          break
        }
        next = other
      }
      for link in chain { states[link] = state }
      if case .body(let place)? = states[number] {
        entries[number].takeBody(of: entries[place])
      } else {
        // Web archives deduplicate across files, so a single file often lacks the record that has
        // the body.
        omissions.add("the record that it revisits is missing")
        responses[number].makesEntry = false
      }
    }
    (bodies, revisits) = (WARCMarkTable(), WARCMarkTable())
  }

  /// Where a revisit leads to.
  private enum RevisitState: Equatable {
    case following
    /// The index of the response with the body.
    case body(Int)
    case missing
  }

  /// Finds the requests of responses.
  private mutating func resolveRequests() {
    requestNumbers.sort()
    for number in responses.indices {
      guard let place = requestNumbers.number(ofFirst: marks[responses[number].ids]) else {
        continue
      }
      if requests[place].isHEAD {
        // Stored as the response to GET, it would be an empty page.
        if responses[number].makesEntry { omissions.add("it answers a HEAD request") }
        (responses[number].makesEntry, responses[number].lack) = (false, nil)
      }
      entries[number].request = requests[place].record
      // A cache looks responses up by the URL of their request.
      (responses[number].key, responses[number].isGET) = (
        requests[place].key, requests[place].isGET
      )
    }
    (marks, requests, requestNumbers) = ([], [], WARCMarkTable())
    for number in responses.indices where responses[number].lack == .body {
      if responses[number].makesEntry { omissions.add(Self.shortBody, isPart: true) }
      responses[number].makesEntry = false
    }
  }

  /// Removes all responses with the same key except the one that a cache would keep.
  ///
  /// - Returns: The number of redirects without their bodies among them.
  private mutating func keepBest() -> Int64 {
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
    var (count, redirects) = (0, 0 as Int64)
    for number in entries.indices where best[responses[number].key] == number {
      entries[count] = entries[number]
      count += 1
      if responses[number].lack == .bodyOfRedirect { redirects += 1 }
    }
    entries.removeLast(entries.count - count)
    return redirects
  }
}

extension WARCIndex.Entry {
  /// Uses the body of the response that this one revisits.
  fileprivate mutating func takeBody(of other: Self) {
    (body, isBodyDecoded, isCut) = (other.body, other.isBodyDecoded, other.isCut)
    (size, sha256) = (other.size, other.sha256)
  }
}

/// A 64-bit digest that represents a text, so that an index of a million records fits into memory.
///
/// Two of a million texts have the same mark by accident once in thirty million archives. Creating such texts on
/// purpose only mixes up records that the same author could have written that way to begin with.
struct WARCMark: Hashable {
  private let bits: UInt64

  /// Creates the mark of a sequence of texts.
  init(_ texts: ByteString...) {
    var digest = Digest()
    for text in texts {
      digest.update(text.bytes[...])
      // Without a separator, two texts that are divided in another way would give the same mark.
      digest.update([0])
    }
    bits = digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension WARCMark: Comparable {
  static func < (lhs: Self, rhs: Self) -> Bool { lhs.bits < rhs.bits }
}

/// The indices of records by their marks, looked up only when all are known.
///
/// It is an array that is sorted then: a dictionary takes up to three times as much memory.
struct WARCMarkTable {
  private var rows: [(mark: WARCMark, number: Int)] = []

  /// Adds an index for a mark, before the table is sorted.
  mutating func add(_ number: Int, for mark: WARCMark) {
    rows.append((mark, number))
  }

  /// Prepares the table for lookups.
  mutating func sort() {
    // By number too, so that of several records with one digest always the same one is found.
    rows.sort { ($0.mark, $0.number) < ($1.mark, $1.number) }
  }

  /// Returns the largest index for the first mark that has any.
  func number(ofFirst marks: some Sequence<WARCMark>) -> Int? {
    for mark in marks { if let number = number(of: mark) { return number } }
    return nil
  }

  private func number(of mark: WARCMark) -> Int? {
    var range = rows.indices
    while let middle = range.middle {
      range = rows[middle].mark <= mark ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    // Every row before the range has this mark or a smaller one.
    guard range.lowerBound > 0, rows[range.lowerBound - 1].mark == mark else { return nil }
    return rows[range.lowerBound - 1].number
  }
}
