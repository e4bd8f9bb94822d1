public import Bytes
import Files
public import ResponseStorage

/// A cache with made-up entries, in the format of Apple, Foundation or WebKit.
///
/// The same values always give the same bytes; in the Apple format, only with the same version of SQLite.
public struct SampleCache: Sendable {
  /// The formats of stores.
  public enum Format: String, CaseIterable, Sendable {
    case apple, foundation, webkit
  }

  public var format = Format.apple

  /// The version of the schema of the Apple format.
  public var schema = AppleSchema.version203

  /// The number of entries.
  public var entries = 0

  /// The seed of the random numbers.
  public var seed: UInt64 = 1

  /// When the newest entry was stored.
  public var newest = Timestamp.epoch

  public var faults: Set<Fault> = []

  /// Whether no body is so long that it would be in a file of its own.
  public var hasOnlyShortBodies = false

  /// Whether the entries are as small as possible, with few header fields.
  public var isTiny = false

  /// Creates a cache without entries.
  public init() {}

  /// Writes the cache.
  ///
  /// - Parameter directory: The path of its folder, which is created and must not contain a cache.
  /// - Throws: ``StoreError`` or `FileError`.
  public func write(to directory: String) throws {
    var generator = SplitMix64(seed: seed)
    let maker = ResponseMaker(
      count: entries, newest: newest, withArrays: AppleRowMaker.writesArrays(schema),
      isTiny ? .tiny : hasOnlyShortBodies ? .noLargeBodies : .real, using: &generator)
    switch format {
    case .apple: try makeAppleStore(maker, at: directory, using: &generator)
    case .foundation: try makeFoundationStore(maker, at: directory, using: &generator)
    case .webkit: try makeWebKitStore(maker, at: directory, using: &generator)
    }
  }

  private func makeAppleStore(
    _ maker: ResponseMaker, at directory: String, using generator: inout SplitMix64
  ) throws {
    var maker = maker
    let rows = AppleRowMaker(schema: schema, faults: FaultPlan(faults, over: entries))
    var store = try AppleStoreWriter(
      creating: directory, schema: schema, isDurable: false, isBulk: isTiny)
    while let sample = maker.next(using: &generator) {
      WorkCounter.add()
      try store.insert(rows.row(of: sample, using: &generator), using: &generator)
    }
    try store.finish()
    // Last, so that an option for faults changes nothing in the entries of a seed.
    if faults.contains(.orphanFiles) { try makeOrphans(at: directory, using: &generator) }
  }

  private func makeFoundationStore(
    _ maker: ResponseMaker, at directory: String, using generator: inout SplitMix64
  ) throws {
    var maker = maker
    let archives = FoundationArchiveMaker(faults: FaultPlan(faults, over: entries))
    let store = try FoundationStoreWriter(creating: directory)
    while let sample = maker.next(using: &generator) {
      WorkCounter.add()
      let archive = archives.archive(of: sample, using: &generator)
      let id = try store.insert(archive, for: archives.url(of: sample), stored: sample.stored)
      guard id != nil else {
        throw StoreError(
          .inputOutput, at: directory, because: "cannot name a file after '\(sample.url.url)'")
      }
    }
    guard faults.contains(.orphanFiles) else { return }
    let bodies = BodyMaker(.real, using: &generator)
    for _ in 0..<orphanCount {
      let bytes = bodies.body(of: generator.pick(MediaKind.all), using: &generator)
      let suffix = generator.next().hexadecimal(4) + "." + generator.next().hexadecimal(6)
      try store.insertTemporaryFile(bytes, suffix: suffix)
    }
  }

  private func makeWebKitStore(
    _ maker: ResponseMaker, at directory: String, using generator: inout SplitMix64
  ) throws {
    var maker = maker
    var store = try WebKitStoreMaker(
      creating: directory, newest: newest, faults: FaultPlan(faults, over: entries),
      using: &generator)
    while let sample = maker.next(using: &generator) {
      WorkCounter.add()
      try store.insert(sample)
    }
    guard faults.contains(.orphanFiles) else { return }
    let bodies = BodyMaker(.real, using: &generator)
    let seconds = newest.secondsSince1970
    for number in 0..<orphanCount {
      let bytes = bodies.body(of: generator.pick(MediaKind.all), using: &generator)
      try store.insertOrphan(bytes, number: UInt64(number), at: seconds - 86_400)
    }
  }

  /// The number of orphans: one for a hundred entries, and at least three.
  private var orphanCount: Int { max(3, entries / 100) }

  /// Creates body files that no row refers to, a day older than the newest entry: nobody is about to store their rows.
  private func makeOrphans(
    at directory: String, using generator: inout SplitMix64
  ) throws {
    let bodies = BodyMaker(.real, using: &generator)
    let seconds = newest.secondsSince1970
    for _ in 0..<orphanCount {
      let name = String(
        decoding: AppleStoreWriter.uuid(generator.next(), generator.next()), as: UTF8.self)
      let file = try OpenFile(
        creating: "\(directory)/\(AppleStoreWriter.bodyFolderName)/\(name)")
      try file.write(bodies.body(of: generator.pick(MediaKind.all), using: &generator))
      try file.setModified((Int64(seconds) - 86_400) * 1_000_000_000)
    }
  }
}
