public import Bytes
import Files
import ResponseArchives
public import ResponseStorage
import SQLite

/// The differences between two stores: responses that only one of them has, and responses that differ.
///
/// Responses with the same key are compared; their locations and numbers do not matter.
public struct StoreComparison: Hashable, Sendable {
  /// An aspect in which two responses can differ.
  public enum Aspect: String, Hashable, Sendable, CaseIterable {
    /// The bytes of the body.
    case body
    /// The status and the header fields of the response, without validators.
    case headers
    /// `ETag` and `Last-Modified`.
    case validators
    /// Everything else: the request, the times, the policy, the partition, and the properties that the app and
    /// CFNetwork attached. Of stores in different formats, only what both can keep.
    case other
  }

  /// The change of a response from the first store to the second.
  public enum Change: String, Hashable, Sendable, CaseIterable {
    case added
    case removed
    case changed
  }

  /// A response that only one of the stores has, or that differs.
  public struct Difference: Hashable, Sendable {
    /// Its key.
    public var key: ByteString
    /// Its URL.
    public var url: ByteString?
    /// The kind of change.
    public var change: Change
    /// The aspects that changed.
    public var aspects: [Aspect] = []
    /// Its id in the first store; `nil` if it is not there.
    public var first: StoredResponse.ID?
    /// Its id in the second store; `nil` if it is not there.
    public var second: StoredResponse.ID?
  }

  /// The differences, in the order of keys.
  public var differences: [Difference] = []
  /// The number of identical responses.
  public var same: Int64 = 0
  /// The number of responses of both stores that were left out because they cannot be read.
  public var leftOut: Int64 = 0
  /// Whether one store keeps less of a response than the other, so that only a part was compared.
  public let isReduced: Bool

  /// Returns the number of responses with this change.
  public func count(_ change: Change) -> Int { differences.count { $0.change == change } }

  /// Compares the selected responses of two stores.
  ///
  /// - Parameters:
  ///   - aspects: The aspects to compare.
  ///   - normalizingJSON: Whether bodies with the same JSON value count as equal, regardless of formatting.
  ///   - selection: The responses of the first store.
  ///   - others: The responses of the second store; `nil` for the same selection.
  /// - Complexity: O(*n* log *n*) time, where *n* is the number of responses; memory grows with the number of
  ///   differences.
  public init(
    of first: any ResponseSource, with second: any ResponseSource, by aspects: Set<Aspect>,
    normalizingJSON: Bool = false, selecting selection: Selection,
    amongOthers others: Selection? = nil, now: Timestamp
  ) throws {
    let formats = try [first.rawLayout.format, second.rawLayout.format]
    isReduced = formats[0] != formats[1] && formats.contains { !$0.traits.unstored.isEmpty }
    let reading = FingerprintReading(
      aspects: aspects, normalizingJSON: normalizingJSON, isReduced: isReduced, now: now)
    let (before, after) = (SortedFingerprints(), SortedFingerprints())
    let isOfAll = selection.isEmpty && others?.isEmpty ?? true
    if formats[0] == formats[1], isOfAll,
      // Most entries of two versions of a cache are equal, which their bytes show.
      let unequal = try UnequalEntries(
        of: first, and: second, withBodies: aspects.contains(.body))
    {
      same = unequal.equalCount
      // If only one of the stores has any, there is nothing to compare them with.
      let isOneSided = unequal.first.isEmpty || unequal.second.isEmpty
      let reading = isOneSided ? reading.withoutAspects : reading
      leftOut += try reading.forEach(of: first, unequal.first) { try before.append($0) }
      leftOut += try reading.forEach(of: second, unequal.second) { try after.append($0) }
    } else if isOfAll, let read = second.independentReading {
      let ahead = FingerprintsAhead(of: read, by: reading)
      leftOut += try reading.forEach(
        of: first, selection, before.append, and: ahead, goesFirst: false, after.append)
    } else if isOfAll, let read = first.independentReading {
      let ahead = FingerprintsAhead(of: read, by: reading)
      leftOut += try reading.forEach(
        of: second, selection, after.append, and: ahead, goesFirst: true, before.append)
    } else {
      leftOut += try reading.forEach(of: first, selection) { try before.append($0) }
      leftOut += try reading.forEach(of: second, others ?? selection) { try after.append($0) }
    }
    try before.sort()
    try after.sort()
    while let key = [before.key, after.key].compactMap({ $0 }).min() {
      try compare(before.removeAll(of: key), with: after.removeAll(of: key))
    }
  }

  /// Compares all responses with one key, of which a store may have several, as it may have some without a key.
  private mutating func compare(
    _ before: [EntryFingerprint], with after: [EntryFingerprint]
  ) throws {
    // Identical ones first, so that one change among several responses with a key is shown as one.
    var places: [AspectDigests: ArraySlice<Int>] = [:]
    for index in before.indices { places[before[index].digests, default: []].append(index) }
    var rest = before.map { Optional($0) }
    var others: [EntryFingerprint] = []
    for print in after {
      if let place = places[print.digests]?.popFirst() {
        rest[place] = nil
        same += 1
      } else {
        others.append(print)
      }
    }
    var known = rest.compactMap { $0 }
    for print in others {
      // Of several responses with this key, any may be the one that changed.
      guard let other = known.popLast() else {
        differences.append(
          .init(key: print.key, url: print.url, change: .added, second: print.id))
        continue
      }
      let differing = Aspect.allCases.filter { print.digests[$0] != other.digests[$0] }
      differences.append(
        .init(
          key: print.key, url: print.url, change: .changed, aspects: differing, first: other.id,
          second: print.id))
    }
    differences += known.map { .init(key: $0.key, url: $0.url, change: .removed, first: $0.id) }
  }
}

/// How the bodies of an entry differ between two stores.
public enum BodyDifference: Sendable {
  /// Both are text, whose first lines were compared. One line of JSON is compared as many, indented.
  case lines(LineComparison, isIndented: Bool)

  /// Both are JSON, and only their white space differs.
  case sameJSON

  /// They are equal after their content codings were undone.
  case sameDecoded

  /// At least one is not text.
  case binary

  /// At least one is larger than this limit, and was not compared.
  case tooLarge(ByteCount)

  /// At least one cannot be read: its file is missing, or its content coding is broken.
  case unreadable
}

/// A header field that differs between two messages.
public struct HeaderChange: Hashable, Sendable {
  /// The name, as the second message spells it, or the first one if only that has the field.
  public var name: ByteString

  /// The values in the first message, in its order; empty if it does not have the field.
  public var before: [ByteString]

  /// The values in the second message, in its order; empty if it does not have the field.
  public var after: [ByteString]

  /// Returns the fields that differ, sorted by name.
  ///
  /// Names are compared in any case (RFC 9110 section 5.1). The order of different fields does not matter, because
  /// `URLCache` stores fields in a dictionary and returns them in any order.
  public static func changes(from first: HeaderFields?, to second: HeaderFields?) -> [Self] {
    var changes: [ByteString: Self] = [:]
    for field in first?.fields ?? [] {
      changes[
        field.name.asciiLowercased, default: Self(name: field.name, before: [], after: [])
      ].before.append(field.value)
    }
    for field in second?.fields ?? [] {
      let key = field.name.asciiLowercased
      changes[key, default: Self(name: field.name, before: [], after: [])].after.append(field.value)
      changes[key]?.name = field.name
    }
    return changes.filter { $0.value.before != $0.value.after }
      // A dictionary has another order in each run.
      .sorted { $0.key < $1.key }.map(\.value)
  }
}

/// The entries of two stores that no entry of the other store equals in all of its bytes.
struct UnequalEntries {
  /// The ids in the first store, in ascending order.
  private(set) var first: [Int64] = []
  /// The ids in the second store, in ascending order.
  private(set) var second: [Int64] = []
  /// The number of pairs of equal entries.
  private(set) var equalCount: Int64 = 0

  /// The digests of the first store, in order, each with the id of its entry: 24 bytes, of which a million fit into memory.
  private var digests: [(digest: ContentDigest, id: Int64)] = []
  /// For the first of equal digests, the id of an entry of the second store that has it, too.
  private var matches: [Int64] = []
  private var isMatched: [Bool] = []
  /// The other entries with that digest.
  private var others: [Int: [Int64]] = [:]

  /// Creates a comparison with no entries.
  init() {}

  /// Compares the entries of two stores by their digests; `nil` if a store has no digests.
  ///
  /// - Parameter withBodies: Whether the bodies count.
  init?(of first: any ResponseSource, and second: any ResponseSource, withBodies: Bool) throws {
    guard try first.forEachDigest(includingBodies: withBodies, { insertFirst($0.id, $0.digest) })
    else { return nil }
    endFirst()
    guard try second.forEachDigest(includingBodies: withBodies, { insertSecond($0.id, $0.digest) })
    else { return nil }
    finish()
  }

  /// Adds an entry of the first store, in any order.
  mutating func insertFirst(_ id: Int64, _ digest: ContentDigest?) {
    if let digest { digests.append((digest, id)) } else { first.append(id) }
  }

  /// Ends the entries of the first store.
  mutating func endFirst() {
    digests.sort { ($0.digest, $0.id) < ($1.digest, $1.id) }
    matches = Array(repeating: 0, count: digests.count)
    isMatched = Array(repeating: false, count: digests.count)
  }

  /// Adds an entry of the second store, in any order.
  mutating func insertSecond(_ id: Int64, _ digest: ContentDigest?) {
    guard let digest else { return second.append(id) }
    let place = digests.partitioningIndex { $0.digest >= digest }
    guard place < digests.count, digests[place].digest == digest else { return second.append(id) }
    if isMatched[place] { return others[place, default: []].append(id) }
    (matches[place], isMatched[place]) = (id, true)
  }

  /// Pairs entries with the same digest, those with the lowest ids first.
  mutating func finish() {
    var start = 0
    while start < digests.count {
      let digest = digests[start].digest
      let end = digests[start...].firstIndex { $0.digest != digest } ?? digests.count
      let ids = isMatched[start] ? ([matches[start]] + (others[start] ?? [])).sorted() : []
      let equal = min(ids.count, end - start)
      equalCount += Int64(equal)
      first += digests[(start + equal)..<end].map(\.id)
      second += ids.dropFirst(equal)
      start = end
    }
    (digests, matches, isMatched, others) = ([], [], [], [:])
    first.sort()
    second.sort()
  }
}

/// Fingerprints in the order of their keys; those with the same key keep their order.
final class SortedFingerprints {
  private var prints = Scratch.Sort<EntryFingerprint>()
  private var sorted: Scratch.Reader<EntryFingerprint>?
  private var next: EntryFingerprint?

  /// Adds a fingerprint.
  func append(_ print: EntryFingerprint) throws(FileError) {
    try prints.insert(print, by: .bytes(print.key.bytes))
  }

  /// Ends the collection.
  func sort() throws(FileError) {
    sorted = try prints.removeAll()
    next = try sorted?.next()
  }

  /// The next key; `nil` at the end.
  var key: ByteString? { next?.key }

  /// Removes and returns all fingerprints with a key that is the next one, in their order in the store.
  func removeAll(of key: ByteString) throws(FileError) -> [EntryFingerprint] {
    var prints: [EntryFingerprint] = []
    while let print = next, print.key == key {
      prints.append(print)
      next = try sorted?.next()
    }
    return prints
  }
}
