import Bytes
import ResponseStorage

/// The entries of a cache added up for a report, in bounded memory.
struct CacheReportTally: ResponseTally {
  // With 30 hosts, ten folders each and 500 entries in them, this keeps a page below 600 kB for any
  // cache.
  /// The number of largest entries to list.
  private static let largestCount = 120

  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]
  private var usage: UsageTally
  private var inlineBytes: ByteCount = 0
  private var states = CacheReport.StateSums()
  private var ages: AgeTally
  private var sizes = SizeTally()
  private var hosts = HostTally()
  private var largest = LargestEntries()

  /// Creates an empty tally.
  ///
  /// - Parameter largestBody: The size in bytes above which a body counts as too large; `nil` if there is no limit.
  init(now: Timestamp, expiryRules: [UserInfoExpiry.Rule], largestBody: ByteCount?) {
    self.now = now
    self.expiryRules = expiryRules
    usage = UsageTally(
      by: nil, now: now, expiryRules: expiryRules, largestBody: largestBody,
      withHistograms: false, findsVersions: true, measuresSpace: true, groupMemory: 0)
    ages = AgeTally(now: now)
  }

  /// The fields to decode of the entries.
  static let projection: Projection = CacheReport.State.projection.union([.url, .body, .stored])
    .union(VersionedEntry.projection).union(.share)

  /// Counts an entry.
  mutating func insert(_ response: borrowing StoredResponse) {
    usage.insert(response)
    let size = response.bodySize ?? 0
    // Hardly any response needs the rules. Threads share them, and would contend for the reference count.
    let rules = response.userInfo.isEmpty ? [] : expiryRules
    let state = CacheReport.State(of: response, at: now, rules: rules)
    if response.bodyLocation == .inline { inlineBytes += size }
    states[state].insert(size)
    ages.insert(response.stored, size: size, state)
    // A missing body has no size, and would show up as an empty one.
    if let size = response.bodySize { sizes.insert(size) }
    hosts.insert(response, size: size, state)
    largest.insert(response.id, size: size, state, limit: Self.largestCount)
  }

  var isFull: Bool { usage.isFull }

  /// Adds another tally with the same parameters.
  mutating func insert(_ other: CacheReportTally) {
    usage.insert(other.usage)
    inlineBytes += other.inlineBytes
    states.insert(other.states)
    ages.insert(other.ages)
    sizes.insert(other.sizes)
    hosts.insert(other.hosts)
    largest.insert(other.largest, limit: Self.largestCount)
  }

  /// Removes and returns the versions of resources, so that memory does not grow with their number.
  mutating func removeVersions() -> [VersionedEntry] { usage.removeVersions() }

  /// Writes the results to a report.
  ///
  /// - Parameter source: The source for the details of the largest entries.
  func write(to report: inout CacheReport, lookingUpIn source: any ResponseSource) throws {
    usage.write(to: &report.usage)
    report.usage.churn = try CacheChurn(
      of: source, usage.ids, bodyBytes: report.usage.bodyBytes)
    report.inlineBytes = inlineBytes
    report.states = states
    (report.ages, report.agesAreDates) = ages.ages
    report.ageLimits = ages.limits
    report.sizes = sizes.groups
    hosts.write(to: &report)
    report.largest = largest.candidates.map { CacheReport.Entry($0) }
    try report.describeEntries(from: source)
  }
}

/// The entries with the largest bodies; of equal sizes, those with the smallest ids.
struct LargestEntries {
  /// An entry; its details can be looked up by id.
  struct Candidate {
    let id: StoredResponse.ID
    let size: ByteCount
    let state: CacheReport.State
  }

  /// The entries, largest first.
  private(set) var candidates: [Candidate] = []

  /// Adds an entry if it is among the largest.
  ///
  /// - Parameter limit: The maximum number of entries.
  mutating func insert(
    _ id: borrowing StoredResponse.ID, size: ByteCount, _ state: CacheReport.State, limit: Int
  ) {
    if candidates.count >= limit {
      // Ids decide between equal sizes, because threads deliver entries in any order, and two
      // reports of the same cache must be equal.
      guard let last = candidates.last, size >= last.size,
        size > last.size || id < last.id
      else { return }
      candidates.removeLast()
    }
    let place =
      candidates.firstIndex { $0.size < size || $0.size == size && id < $0.id } ?? candidates.count
    candidates.insert(.init(id: copy id, size: size, state: state), at: place)
  }

  /// Adds the largest of other entries.
  mutating func insert(_ others: LargestEntries, limit: Int) {
    for other in others.candidates {
      insert(other.id, size: other.size, other.state, limit: limit)
    }
  }
}

extension CacheReport.Entry {
  /// Creates an entry without details.
  init(_ candidate: LargestEntries.Candidate) {
    self.init(id: candidate.id, size: candidate.size, state: candidate.state)
  }
}

/// A cache of the places of recently seen prefixes.
///
/// Each prefix has one slot, and replaces another prefix with the same slot. Hostile prefixes can only cause misses,
/// each followed by a slower look-up.
struct RecentBeginnings {
  /// The lengths of prefixes that are kept, in bytes; no URL is shorter.
  private static let lengths = 8...64
  private static let wordsOfSlot = 8
  private static let slotBits = 12

  private struct Slot {
    var length = 0
    var place = 0
  }

  private var slots = Array(repeating: Slot(), count: 1 << slotBits)
  private var words = Array(repeating: UInt64(0), count: wordsOfSlot << slotBits)

  /// Returns the place of a prefix, if known.
  func place(of beginning: Span<UInt8>) -> Int? {
    guard Self.lengths.contains(beginning.count) else { return nil }
    let number = Self.slot(of: beginning)
    // The prefix itself is compared, and not only its hash: a hostile URL must not be counted in
    // the folder of another.
    guard slots[number].length == beginning.count else { return nil }
    for index in 0..<Self.wordCount(of: beginning)
    where words[number * Self.wordsOfSlot + index] != Self.word(index, of: beginning) {
      return nil
    }
    return slots[number].place
  }

  /// Stores the place of a prefix, unless it is too long.
  mutating func insert(_ beginning: Span<UInt8>, at place: Int) {
    guard Self.lengths.contains(beginning.count) else { return }
    let number = Self.slot(of: beginning)
    slots[number] = Slot(length: beginning.count, place: place)
    for index in 0..<Self.wordCount(of: beginning) {
      words[number * Self.wordsOfSlot + index] = Self.word(index, of: beginning)
    }
  }

  private static func slot(of beginning: Span<UInt8>) -> Int {
    var hash = UInt64(truncatingIfNeeded: beginning.count)
    for index in 0..<wordCount(of: beginning) {
      // Fibonacci hashing: 2^64 divided by the golden ratio mixes the bits evenly.
      hash = (hash ^ word(index, of: beginning)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
    }
    return Int(truncatingIfNeeded: hash >> UInt64(64 - slotBits))
  }

  private static func wordCount(of beginning: Span<UInt8>) -> Int { (beginning.count &+ 7) / 8 }

  /// Returns a word of a prefix; the last word overlaps the previous one, so that it also has eight bytes.
  @inline(__always)
  private static func word(_ index: Int, of beginning: Span<UInt8>) -> UInt64 {
    beginning.word(at: min(index &* 8, beginning.count &- 8))
  }
}
