import Bytes
import ResponseArchives
import ResponseStorage
import TestSupport

@testable import Administration

/// An entry of an archive in memory.
struct ImportedEntry {
  var number: Int64
  var key: ByteString
  /// When it was first stored.
  var time: Timestamp?
  /// What distinguishes it from another entry with the same key.
  var contents: ByteString
  /// Whether no cache can keep it.
  var isRefused = false

  init(number: Int64, key: ByteString, time: Timestamp? = nil, contents: ByteString) {
    (self.number, self.key, self.time, self.contents) = (number, key, time, contents)
  }

  /// The entry as a store has it.
  var raw: RawResponse {
    var raw = RawResponse(id: number)
    raw.columns = [.init("request_key", .text(key)), .init("partition", .text(contents))]
    if let time {
      let seconds = time.wholeSeconds
      let text = "1970-01-01 00:00:0\(seconds)"
      raw.columns.append(.init("time_stamp", .text(ByteString(text))))
    }
    raw.parts = [.init(.body, Body(contents.bytes + [1, 2, 3]))]
    if isRefused { raw.finding = "it is refused" }
    return raw
  }

  /// Returns entries with different keys.
  static func distinct(_ count: Int64) -> [ImportedEntry] {
    (1...count).map { ImportedEntry(number: $0, key: ByteString("k\($0)"), contents: "a") }
  }

  /// Returns random entries.
  ///
  /// - Parameters:
  ///   - spread: The number of different keys in the cache.
  ///   - repeating: Whether some entries have the same key even in the archive.
  static func entries(
    _ count: Int, spread: Int = 4, repeating: Bool = true, _ random: inout SplitMix64
  ) -> [ImportedEntry] {
    (0..<count).map { index in
      let isRepeated = repeating && Int.random(in: 0..<40, using: &random) == 0
      let query = isRepeated ? Int.random(in: 0...index, using: &random) : index
      let page = Int.random(in: 0..<spread, using: &random)
      var entry = ImportedEntry(
        number: Int64(index) + 1, key: ByteString("page\(isRepeated ? 0 : page)?\(query)"),
        time: .random(&random), contents: Bool.random(using: &random) ? "a" : "b")
      entry.isRefused = Int.random(in: 0..<15, using: &random) == 0
      return entry
    }
  }
}

extension Timestamp {
  /// Returns one of few times, or none.
  static func random(_ random: inout SplitMix64) -> Timestamp? {
    let seconds = Int.random(in: 0..<4, using: &random)
    return seconds == 0 ? nil : Timestamp(secondsSince1970: Double(seconds))
  }
}

/// An archive in memory.
struct ListedArchive: ResponseArchive {
  let entries: [ImportedEntry]
  /// The number of entries before damage; `nil` if there is none.
  var damage: Int?

  init(_ entries: [ImportedEntry]) { self.entries = entries }

  var description: StoreDescription {
    StoreDescription(path: "archive", format: .archive, schemaVersion: 203)
  }
  var limits: ArchiveLimits { ArchiveLimits() }
  var omissions: [ArchiveOmission] { [] }
  var restoresCaches: Bool { true }

  func forEachEntry(verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep) throws {
    try forEachListed { _ = try body($0.raw) }
  }

  /// Calls `body` with each entry before the damage.
  func forEachListed(_ body: (ImportedEntry) throws -> Void) throws {
    for entry in entries.prefix(damage ?? .max) { try body(entry) }
    if damage != nil { throw ResponseArchiveError(.damaged, at: "archive", "it is damaged") }
  }

  func footprint() -> Footprint { Footprint() }

  func finish() {}
}

/// A cache whose keys have no query.
struct CollapsingTarget: ResponseTarget {
  /// The entries that the cache has, by their keys in it.
  private(set) var standing: [ByteString: ImportedEntry] = [:]

  init() {}

  /// Creates a cache with some entries.
  init(_ random: inout SplitMix64) {
    for page in 0..<4 where Bool.random(using: &random) {
      let key = ByteString("page\(page)")
      standing[key] = ImportedEntry(
        number: Int64(page) + 100, key: key, time: .random(&random), contents: "a")
    }
  }

  /// Returns the key in the cache.
  func collapsed(_ key: ByteString) -> ByteString {
    ByteString(Array(key.bytes.prefix { $0 != UInt8(ascii: "?") }))
  }

  func admit(_ response: RawResponse) -> AdmittedResponse {
    AdmittedResponse(
      key: response.text("request_key").map(collapsed), kept: response, losses: [.userInfo])
  }

  func standingResponse(forKey key: ByteString) -> StandingResponse? {
    guard let there = standing[key] else { return nil }
    return StandingResponse(
      raw: there.raw, version: ResponseVersion(id: .row(there.number), key: key, stored: nil))
  }

  func standingResponse(withoutKey number: Int64) -> StandingResponse? { nil }
}
