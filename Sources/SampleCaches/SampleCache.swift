import ArgumentParser
import Bytes
import Files
import Progress
import ResponseStorage

/// Creates a store in the format of Apple, Foundation or WebKit.
@main
struct SampleCache: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample-cache",
    abstract: "Create a sample URL cache in the Apple, Foundation or WebKit format.",
    discussion: """
      DIR must not contain a cache. The same options always produce the same bytes; in the Apple \
      format, only with the same version of SQLite.
      """)

  /// The formats of stores.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case apple, foundation, webkit
  }

  @Option(help: "The format: apple, foundation or webkit.")
  var format = Format.apple

  @Option(help: "The schema version of the Apple format: 202 or 203.")
  var schema: Int64 = 203

  @Option(help: ArgumentHelp("How many entries to store.", valueName: "n"))
  var entries: Int

  @Option(help: ArgumentHelp("The seed of the random numbers.", valueName: "s"))
  var seed: UInt64

  @Option(
    help: ArgumentHelp(
      "When the newest entry was stored, such as 2026-01-01T00:00:00Z.", valueName: "time"))
  var newest = "2026-01-01T00:00:00Z"

  @Option(
    help: ArgumentHelp(
      "The faults to add: a list of orphan-files, missing-bodies and undecodable.",
      valueName: "kind,…"))
  var faults: Faults?

  @Flag(help: "Keep all bodies small enough for the database.")
  var noLargeBodies = false

  @Flag(help: "Make the entries as small as possible, with few header fields.")
  var tiny = false

  @Option(
    help: ArgumentHelp(
      "Show progress on standard error: auto (on a terminal), always, never, json (lines).",
      valueName: "when"),
    transform: parseProgressMode)
  var progress = ProgressMode.auto

  @Argument(help: ArgumentHelp("The folder to create the cache in.", valueName: "dir"))
  var directory: String

  func validate() throws {
    guard AppleSchema(rawValue: schema) != nil else {
      throw ValidationError("'--schema' must be 202 or 203.")
    }
    guard entries >= 0 else { throw ValidationError("'--entries' cannot be less than zero.") }
    guard Self.moment(newest) != nil else {
      throw ValidationError("'--newest' must be a time in UTC such as 2026-01-01T00:00:00Z.")
    }
  }

  func run() throws {
    guard let schema = AppleSchema(rawValue: schema), let newest = Self.moment(newest) else {
      throw ExitCode.validationFailure
    }
    // Before anything is generated, since a million entries take a while.
    try checkParent()
    var generator = SplitMix64(seed: seed)
    let maker = ResponseMaker(
      count: entries, newest: newest, withArrays: AppleRowMaker.writesArrays(schema),
      tiny ? .tiny : noLargeBodies ? .noLargeBodies : .real, using: &generator)
    try showingProgress {
      switch format {
      case .apple: try makeAppleStore(schema, maker, using: &generator)
      case .foundation: try makeFoundationStore(maker, using: &generator)
      case .webkit: try makeWebKitStore(maker, using: &generator)
      }
    }
  }

  private func showingProgress(_ work: () throws -> Void) throws {
    let display = ProgressDisplay(
      progress, isTerminal: StandardStream.error.isTerminal,
      width: { StandardStream.error.terminalWidth }, isASCII: true,
      milliseconds: LocalTime.steadyMilliseconds, write: { try? StandardStream.error.write($0) })
    guard let display else { return try work() }
    try display.show("Making entries", of: Int64(entries), unit: "entries", work)
  }

  /// Checks that the parent folder exists, before the store reports only that the folder itself does not.
  private func checkParent() throws {
    var path = Array(directory.utf8)[...]
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return }
    let parent = String(decoding: path[..<slash], as: UTF8.self)
    do throws(FileError) { _ = try Directory(parent, followingLink: true) } catch {
      throw ValidationError("cannot create '\(directory)': cannot open the folder \(error)")
    }
  }

  private var kindsOfFaults: Set<Fault> { faults?.kinds ?? [] }

  private func makeAppleStore(
    _ schema: AppleSchema, _ maker: ResponseMaker, using generator: inout SplitMix64
  ) throws {
    var maker = maker
    let rows = AppleRowMaker(schema: schema, faults: FaultPlan(kindsOfFaults, over: entries))
    var store = try AppleStoreWriter(
      creating: directory, schema: schema, isDurable: false, isBulk: tiny)
    while let sample = maker.next(using: &generator) {
      WorkCounter.add()
      try store.insert(rows.row(of: sample, using: &generator), using: &generator)
    }
    try store.finish()
    // Last, so that an option for faults changes nothing in the entries of a seed.
    if kindsOfFaults.contains(.orphanFiles) { try makeOrphans(using: &generator) }
  }

  private func makeFoundationStore(
    _ maker: ResponseMaker, using generator: inout SplitMix64
  ) throws {
    var maker = maker
    let archives = FoundationArchiveMaker(faults: FaultPlan(kindsOfFaults, over: entries))
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
    guard kindsOfFaults.contains(.orphanFiles) else { return }
    let bodies = BodyMaker(.real, using: &generator)
    for _ in 0..<orphanCount {
      let bytes = bodies.body(of: generator.pick(MediaKind.all), using: &generator)
      let suffix = generator.next().hexadecimal(4) + "." + generator.next().hexadecimal(6)
      try store.insertTemporaryFile(bytes, suffix: suffix)
    }
  }

  private func makeWebKitStore(
    _ maker: ResponseMaker, using generator: inout SplitMix64
  ) throws {
    var maker = maker
    var store = try WebKitStoreMaker(
      creating: directory, faults: FaultPlan(kindsOfFaults, over: entries), using: &generator)
    while let sample = maker.next(using: &generator) {
      WorkCounter.add()
      try store.insert(sample)
    }
    guard kindsOfFaults.contains(.orphanFiles) else { return }
    let bodies = BodyMaker(.real, using: &generator)
    let seconds = Self.moment(newest)?.secondsSince1970 ?? 0
    for number in 0..<orphanCount {
      let bytes = bodies.body(of: generator.pick(MediaKind.all), using: &generator)
      try store.insertOrphan(bytes, number: UInt64(number), at: seconds - 86_400)
    }
  }

  /// The number of orphans: one for a hundred entries, and at least three.
  private var orphanCount: Int { max(3, entries / 100) }

  /// Creates body files that no row refers to, a day older than the newest entry: nobody is about to store their rows.
  private func makeOrphans(using generator: inout SplitMix64) throws {
    let bodies = BodyMaker(.real, using: &generator)
    let seconds = Self.moment(newest)?.secondsSince1970 ?? 0
    for _ in 0..<orphanCount {
      let name = String(
        decoding: AppleStoreWriter.uuid(generator.next(), generator.next()), as: UTF8.self)
      let file = try OpenFile(
        creating: "\(directory)/\(AppleStoreWriter.bodyFolderName)/\(name)")
      try file.write(bodies.body(of: generator.pick(MediaKind.all), using: &generator))
      try file.setModified((Int64(seconds) - 86_400) * 1_000_000_000)
    }
  }

  /// Reads a time in UTC (RFC 3339 §5.6).
  private static func moment(_ text: String) -> Timestamp? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20, bytes.last == UInt8(ascii: "Z"),
      let time = CivilTime(bytes.span.extracting(first: 19), separator: UInt8(ascii: "T"))
    else { return nil }
    return Timestamp(secondsSince1970: Double(time.secondsSince1970))
  }
}

/// Reads the value of `--progress`.
private func parseProgressMode(_ text: String) throws -> ProgressMode {
  guard let mode = ProgressMode(rawValue: text) else {
    throw ValidationError("'--progress' must be auto, always, never or json.")
  }
  return mode
}
