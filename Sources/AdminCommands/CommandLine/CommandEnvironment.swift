import Administration
public import Bytes
import Files
import Progress
import Rendering
public import ResponseArchives
public import ResponseStorage
public import Revalidation
import SampleCaches

/// The interface of a command to the outside world, so that tests can run whole command lines.
public struct CommandEnvironment {
  /// The time for all evaluations, unless `--at` sets another.
  public var now: Timestamp

  /// Returns an environment variable.
  public var variable: (String) -> String?

  /// The width of the terminal of standard output, in columns; `nil` if it is not a terminal.
  public var terminalWidth: Int?

  /// Whether standard output is a terminal.
  public var isOutputTerminal: Bool

  /// Writes data to standard output.
  public var write: ([UInt8]) throws -> Void

  /// Writes messages to standard error.
  public var writeMessage: (String) -> Void

  /// Reads available bytes of standard input into the front of an array; returns their number, which is 0 at the end.
  public var readInputPiece: (inout [UInt8]) throws -> Int = {
    try StandardStream.input.read(into: &$0)
  }

  /// Reads a configuration file; `nil` if it does not exist.
  public var readConfiguration: (String) throws -> [UInt8]?

  /// The time that `URLCACHE_ADMIN_AT` sets for evaluations without `--at`.
  var evaluationTime: WrittenTime?

  /// The defaults for the command line.
  var configuration = Configuration() {
    didSet { places = CachePlaces(of: configuration) }
  }

  /// Where the configured caches are.
  private(set) var places = CachePlaces(of: Configuration())

  /// Whether to leave out notes, hints and summaries.
  var isQuiet = false

  /// The number of operands after `--`, which are taken literally.
  var operandsAfterTerminator = 0

  /// The record of the run.
  var record = RunRecord()

  /// The start and the deadline of the command.
  let schedule = RunSchedule()

  /// The contents of inputs that can only be read once.
  var inputs: InputTexts

  /// Creates the files that a command writes.
  var files = OutputFiles.own

  /// Returns the user whose cache is at a path, if a worker has to do the work on it; `nil` in a process that starts no workers.
  var isolation: ((String) throws -> UInt32?)?

  /// Returns the home folder of the user, also if no variable names it.
  var homeFolder: () -> String? = { nil }

  /// What this process was started for; `nil` if it is no worker.
  var job: WorkerJob?

  /// Reads the next bytes of an input, in a worker that may not be able to open it.
  var readPieceOfInput: ((String, inout [UInt8]) throws -> Int)?

  /// The configuration files that a worker was given.
  var configurationFiles: [ConfigurationFile]?

  /// The other names of the cache of a worker.
  var otherNames: [String: [String]] = [:]

  /// Writes what shows progress to standard error.
  var writeProgress: @Sendable ([UInt8]) -> Void = { try? StandardStream.error.write($0) }

  /// The notes that are only reported once.
  let reportedNotes = ReportedNotes()

  /// The searches for the caches of apps that were made.
  let searches = ApplicationSearches()

  /// Opens the cache at a path for reading; the other parameters are the time to wait for a lock in milliseconds, and
  /// the time after which stored times are in the future.
  public var openSource: (String, Int32, Timestamp) throws -> OpenedCache

  /// Returns an observer of the cache at a path, which need not exist; the other parameter is the time to wait for a lock
  /// in milliseconds.
  public var observe: (String, Int32) throws -> StoreObserver = { path, _ in
    throw StoreError(.unsupported, at: path)
  }

  /// Whether no process reads standard output any more.
  public var hasNoReader: () -> Bool = { false }

  /// Writes a made-up cache into the folder at a path.
  var writeSample: (SampleCache, String) throws -> Void = { _, path in
    throw StoreError(.unsupported, at: path)
  }

  /// Looks for the entries that the cache at a path no longer has; the other parameter is the time to wait for a lock in
  /// milliseconds.
  public var openRemains: (String, Int32, RemovedEntriesOptions) throws -> any RemovedEntries = {
    path, _, _ in throw StoreError(.unsupported, at: path)
  }

  /// Calls the last parameter with each file of the cache at a path; the other parameter is the time to wait for a lock
  /// in milliseconds.
  var forEachFile: (String, Int32, (StoreFile, borrowing OpenFile) throws -> Void) throws -> Void =
    { _, _, _ in }

  /// Records that what was removed from the cache at a path is about to be overwritten.
  var beginErasure: (String) -> ErasureRecord? = { _ in nil }

  /// Whether a command may have been interrupted before it had overwritten what it removed from the cache at a path.
  var mayHaveUnfinishedErasure: (String) -> Bool = { _ in false }

  /// Opens the cache at a path for writing; the other parameters are the time to wait for a lock in milliseconds, and
  /// whether SQLite checks the database first.
  public var openStore: (String, Int32, Bool) throws -> any ResponseStore

  /// Creates an empty cache in a folder and fills it; removes it again after a failure.
  public var createStore: (NewStore, String, (any ResponseStore) throws -> Void) throws -> Void

  /// Removes the files that killed commands left in the cache at a path; the other parameter is the time to wait for a
  /// lock in milliseconds.
  public var finishIntents: (String, Int32) -> FinishedIntents

  /// Searches for stores.
  public var findStores: (StoreSearch) throws -> Discovery

  /// Returns the available and the total space of the file system of a path, in bytes.
  public var fileSystem: (String) throws -> (available: ByteCount, total: ByteCount)

  /// Starts a transport for requests to origin servers.
  public var openTransport: () throws -> any Transport

  /// Returns the system time, in seconds since 1970.
  public var secondsNow: () -> Int64

  /// Returns the time of a monotonic clock, in milliseconds.
  public var steadyMilliseconds: () -> Int64

  /// Waits for a number of milliseconds.
  public var pause: (Int64) -> Void

  /// Returns a random number from zero to a maximum.
  public var random: (Int64) -> Int64

  /// Whether standard error is a terminal.
  public var isMessageTerminal: Bool

  /// Whether standard input is a terminal, so that questions can be asked.
  public var isInputTerminal: Bool

  /// Reads a line that the user types; `nil` at the end of the input.
  public var readLine: () -> String?

  /// The width of the terminal of standard error, in columns; `nil` if it is unknown.
  public var messageWidth: @Sendable () -> Int? = { nil }

  /// The words of the command line, without the name of the program.
  var words: [String] = []

  /// What text on standard output may look like.
  var outputStyle = TextStyle()

  /// What text on standard error may look like.
  var messageStyle = TextStyle()

  /// Shows the progress of long work; `nil` if progress is not shown.
  var progress: ProgressDisplay?

  /// Creates an environment.
  public init(
    now: Timestamp, variable: @escaping (String) -> String? = { _ in nil },
    terminalWidth: Int? = nil,
    isOutputTerminal: Bool = false, write: @escaping ([UInt8]) throws -> Void,
    writeMessage: @escaping (String) -> Void,
    readInput: @escaping (Int) throws -> [UInt8] = { _ in [] },
    readConfiguration: @escaping (String) throws -> [UInt8]? = { _ in nil },
    openSource: @escaping (String, Int32, Timestamp) throws -> OpenedCache,
    openStore: @escaping (String, Int32, Bool) throws -> any ResponseStore,
    createStore: @escaping (NewStore, String, (any ResponseStore) throws -> Void) throws -> Void = {
      _, path, _ in throw StoreError(.accessDenied, at: path)
    },
    finishIntents: @escaping (String, Int32) -> FinishedIntents = { _, _ in FinishedIntents() },
    findStores: @escaping (StoreSearch) throws -> Discovery = { _ in Discovery() },
    fileSystem: @escaping (String) throws -> (available: ByteCount, total: ByteCount) = { _ in
      (0, 0)
    },
    openTransport: @escaping () throws -> any Transport = { NoTransport() },
    secondsNow: (() -> Int64)? = nil, steadyMilliseconds: @escaping () -> Int64 = { 0 },
    pause: @escaping (Int64) -> Void = { _ in }, random: @escaping (Int64) -> Int64 = { $0 },
    isMessageTerminal: Bool = false, isInputTerminal: Bool = false,
    readLine: @escaping () -> String? = { nil }
  ) {
    self.now = now
    self.openTransport = openTransport
    self.secondsNow = secondsNow ?? { now.wholeSeconds }
    self.steadyMilliseconds = steadyMilliseconds
    self.pause = pause
    self.random = random
    self.isMessageTerminal = isMessageTerminal
    self.variable = variable
    self.terminalWidth = terminalWidth
    self.isOutputTerminal = isOutputTerminal
    self.write = write
    self.writeMessage = writeMessage
    inputs = InputTexts(readInput: readInput)
    self.readConfiguration = readConfiguration
    self.openSource = openSource
    self.openStore = openStore
    self.createStore = createStore
    self.finishIntents = finishIntents
    self.findStores = findStores
    self.fileSystem = fileSystem
    self.isInputTerminal = isInputTerminal
    self.readLine = readLine
  }

  /// Returns the environment of this process; `nil` if its clock is not set.
  public static func live() -> CommandEnvironment? {
    live(at: nil) {
      // Failing to write a message is no reason to fail.
      try? StandardStream.error.write(Array($0.utf8))
    }
  }

  /// Returns the environment of this process; `nil` if its clock is not set.
  ///
  /// - Parameters:
  ///   - given: The time for all evaluations; `nil` for that of the clock.
  ///   - writeMessage: Writes messages.
  static func live(
    at given: Timestamp?, writeMessage: @escaping @Sendable (String) -> Void
  ) -> CommandEnvironment? {
    // One time for the whole command. With a clock that goes on, an entry could be young in one
    // place and old in another.
    guard let now = given ?? Timestamp(secondsSince1970: LocalTime.now()) else { return nil }
    // As in a shell, which also knows the home folder of a user without the variable.
    let home = {
      CurrentProcess.variable("HOME").flatMap { $0.isEmpty ? nil : $0 } ?? CurrentProcess.homeFolder
    }
    let variable = { (name: String) in name == "HOME" ? home() : CurrentProcess.variable(name) }
    let intents = intentFolder(variable) { writeMessage("note: \(printable($0))\n") }
    // Whatever called it: root does not open the caches of others.
    let opening = { (path: String, wait: Int32) throws in
      if CurrentProcess.isRoot, try CacheOwner.user(ofCacheAt: path) != nil {
        throw StoreError(.accessDenied, at: path, because: "it belongs to another user")
      }
      return StoreOpening(
        path: path, wait: wait, now: now, intents: intents)
    }
    var environment = CommandEnvironment(
      now: now, variable: CurrentProcess.variable,
      terminalWidth: StandardStream.output.terminalWidth,
      isOutputTerminal: StandardStream.output.isTerminal,
      write: { try StandardStream.output.write($0) },
      writeMessage: writeMessage,
      readInput: { try StandardStream.readInput(upTo: $0) },
      readConfiguration: Self.readFile,
      openSource: { path, wait, now in
        // By its first bytes, before it is tried as a database, so that an error is about the
        // archive that it is.
        let archive = ArchiveOpening(path: path)
        if archive.isArchive { return .archive(try archive.open()) }
        return .store(try opening(path, wait).open())
      },
      openStore: { path, wait, verifying in
        guard !ArchiveOpening(path: path).isArchive else {
          // An archive is a record of what was there, and its digests would no longer hold.
          throw CommandFailure.archive(at: path)
        }
        return try opening(path, wait).openForChanging(verifying: verifying)
      },
      createStore: { store, path, fill in
        try store.create(try opening(path, 0), filledBy: fill)
      },
      finishIntents: { path, wait in
        (try? opening(path, wait))?.finishIntents() ?? FinishedIntents()
      },
      findStores: { try StoreFinder.discovery(by: $0) },
      fileSystem: { path in
        let status = try FileSystemStatus.of(path)
        // The temporary databases of this command take room only while it runs.
        return (status.availableBytes + TemporarySpace.bytes(on: status.device), status.totalBytes)
      },
      openTransport: { try FetchProcess() },
      secondsNow: { Int64(LocalTime.now()) }, steadyMilliseconds: LocalTime.steadyMilliseconds,
      pause: { CurrentProcess.sleep(milliseconds: Int($0)) }, random: { .random(in: 0...$0) },
      isMessageTerminal: StandardStream.error.isTerminal,
      isInputTerminal: StandardStream.input.isTerminal,
      readLine: {
        // Wait first: on a terminal that another process made non-blocking, `readLine` would return `nil` at once.
        StandardStream.input.waitForInput()
        return Swift.readLine()
      })
    environment.messageWidth = { StandardStream.error.terminalWidth }
    environment.homeFolder = home
    environment.hasNoReader = { StandardStream.output.hasNoReader }
    environment.observe = { path, wait in
      guard !ArchiveOpening(path: path).isArchive else {
        throw CommandFailure.usage(
          "'\(path)' is an archive, which does not change",
          hint: "compare two archives with 'urlcache-admin diff'")
      }
      return StoreObserver(try opening(path, wait))
    }
    environment.forEachFile = { path, wait, body in
      try opening(path, wait).forEachFile(body)
    }
    environment.beginErasure = { (try? opening($0, 0))?.beginErasure() }
    environment.mayHaveUnfinishedErasure = {
      (try? opening($0, 0))?.mayHaveUnfinishedErasure() ?? false
    }
    if CurrentProcess.isRoot {
      environment.findStores = { [environment] search in
        try environment.findingStoresOfOthers(search)
      }
    }
    environment.isolation = { path in
      CurrentProcess.isRoot ? try CacheOwner.user(ofCacheAt: path) : nil
    }
    environment.writeSample = { try $0.write(to: $1) }
    environment.openRemains = { path, wait, options in
      guard !ArchiveOpening(path: path).isArchive else {
        throw CommandFailure.usage(
          "'\(path)' is an archive, which has no removed entries",
          hint: "give a Cache.db or its folder")
      }
      do {
        return try opening(path, wait).findRemovedEntries(options)
      } catch let error as StoreError where error.code == .unsupported {
        throw CommandFailure.usage(
          "'\(path)': \(error.reason ?? "it keeps no removed entries")",
          hint: "give a Cache.db or its folder")
      }
    }
    return environment
  }
}

// Two cases and no common type: an archive has no method that changes it, so no command can call
// one by mistake.
/// A cache or an archive, open for reading.
public enum OpenedCache {
  /// A store, for which changes can be planned.
  case store(any StoreSource)
  /// An archive, which can only be read.
  case archive(any ResponseArchive)

  /// The source of responses.
  public var source: any ResponseSource {
    switch self {
    case .store(let source): source
    case .archive(let archive): archive
    }
  }
}

/// The notes that a process has reported, so that it reports each only once.
final class ReportedNotes {
  private var texts: Set<String> = []

  // By its text, since the same option is read for every cache, attempt and round.
  /// Adds a note.
  ///
  /// - Returns: Whether it is new.
  func insert(_ text: String) -> Bool { texts.insert(text).inserted }
}

extension CommandEnvironment {
  /// The number of damaged records that notes name; `check` lists more.
  private static let mostNamed = 5

  /// Notes what an archive lacks, as far as it is known before its entries are read.
  func note(lacksOf archive: any ResponseArchive) {
    let damaged = archive.damagedRecords
    for record in damaged.prefix(Self.mostNamed) {
      let url = record.url.map { " ('\(EntryNames.text(SecretPolicy().url($0, for: .people)))')" }
      note("\(record.description), and is left out\(url ?? "")")
    }
    if damaged.count > Self.mostNamed {
      note(
        "more records do not match their digests; list them with: "
          + OptionHints.commandLine(["check", archive.description.path]))
    }
    if archive.redirectsWithoutBody > 0 {
      note("redirects that were recorded without their bodies: \(archive.redirectsWithoutBody)")
    }
  }
}

extension CommandEnvironment {
  /// Reports the entries that a plan leaves although the user may have meant them.
  ///
  /// - Parameter participle: What happens to entries with unknown properties, such as `not selected`.
  func note(leftBy plan: RemovalPlan, _ participle: String) {
    // What a command leaves must be said: a user who asked for everything older than a month
    // believes otherwise that it is gone.
    let words: KeyValuePairs<KeepReason, String> = [
      .unknownAge: "entries \(participle) because their age is unknown",
      .unknownFreshness: "entries \(participle) because their freshness is unknown",
      .keptByRule: "entries kept by rules",
      .pinned: "entries kept by pins",
      .notARegularFile: "entries kept because they are not regular files, or have links elsewhere",
    ]
    for (reason, words) in words {
      if let kept = plan.kept[reason] {
        note("\(words): \(QuantityWords.grouped(Int64(kept.entries)))")
      }
    }
  }
}
