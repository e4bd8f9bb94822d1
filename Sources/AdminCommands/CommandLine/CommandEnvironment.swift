import Administration
public import Bytes
import Files
import ResponseArchives
public import ResponseStorage
public import Revalidation

/// What a command gets from the world around it, so that a whole command line runs in a test.
public struct CommandEnvironment {
  /// The time that everything is evaluated as of, unless `--at` says another.
  public var now: Timestamp

  /// Returns an environment variable.
  public var variable: (String) -> String?

  /// The width of the terminal that the output goes to, in columns; `nil` if it goes elsewhere.
  public var terminalWidth: Int?

  /// Whether the output goes to a terminal.
  public var isOutputTerminal: Bool

  /// Writes data.
  public var write: ([UInt8]) throws -> Void

  /// Writes messages.
  public var writeMessage: (String) -> Void

  /// Reads on in the standard input, into the front of an array, as soon as there is anything; returns the number
  /// of bytes, which is 0 at the end.
  public var readInputPiece: (inout [UInt8]) throws -> Int = {
    try StandardStream.input.read(into: &$0)
  }

  /// Reads a configuration file; `nil` if there is none at the path.
  public var readConfiguration: (String) throws -> [UInt8]?

  /// What holds for a command line that does not say it.
  var configuration = Configuration()

  /// What is written down of what the command does.
  var record = RunRecord()

  /// When the command begins, and by when it is to end.
  let schedule = RunSchedule()

  /// What is read as a whole from files that can be read only once.
  let inputs: InputTexts

  /// The notes that are reported once.
  let reportedNotes = ReportedNotes()

  /// Opens the cache at a path for reading, waiting for a lock for some milliseconds; what is from after
  /// the moment is from the future.
  public var openSource: (String, Int32, Timestamp) throws -> OpenedCache

  /// Opens the cache at a path for changing, waiting for a lock for some milliseconds, and having
  /// SQLite check the database before if the last is true.
  public var openStore: (String, Int32, Bool) throws -> any ResponseStore

  /// Creates an empty cache in a folder, and fills it; if that fails, nothing of it stays.
  public var createStore: (NewStore, String, (any ResponseStore) throws -> Void) throws -> Void

  /// Removes the files that killed commands have left of the cache at a path, waiting for a lock for some
  /// milliseconds.
  public var finishIntents: (String, Int32) -> FinishedIntents

  /// Looks for stores.
  public var findStores: (StoreSearch) throws -> Discovery

  /// What is available, and all there is, of the file system that a path is on, in bytes.
  public var fileSystem: (String) throws -> (available: ByteCount, total: ByteCount)

  /// Starts what sends requests to origins.
  public var openTransport: () throws -> any Transport

  /// The time of the system's clock now, in seconds since 1970.
  public var secondsNow: () -> Int64

  /// Milliseconds of a clock that nobody sets.
  public var steadyMilliseconds: () -> Int64

  /// Waits for some milliseconds.
  public var pause: (Int64) -> Void

  /// A random number from zero up to another.
  public var random: (Int64) -> Int64

  /// Whether messages go to a terminal.
  public var isMessageTerminal: Bool

  /// Whether there is a terminal to ask.
  public var isInputTerminal: Bool

  /// Reads a line that somebody types; `nil` at the end of the input.
  public var readLine: () -> String?

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

  /// The environment of this process; `nil` if its clock shows no time.
  public static func live() -> CommandEnvironment? {
    guard let now = Timestamp(secondsSince1970: LocalTime.now()) else { return nil }
    let temporaryFolder =
      CurrentProcess.variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    let writeMessage: @Sendable (String) -> Void = {
      // A message that nobody can read is no reason to fail.
      try? StandardStream.error.write(Array($0.utf8))
    }
    let intents = intentFolder(CurrentProcess.variable) {
      writeMessage("note: \(printable($0))\n")
    }
    return CommandEnvironment(
      now: now, variable: CurrentProcess.variable,
      terminalWidth: StandardStream.output.terminalWidth,
      isOutputTerminal: StandardStream.output.isTerminal,
      write: { try StandardStream.output.write($0) },
      writeMessage: writeMessage,
      readInput: { try StandardStream.readInput(upTo: $0) },
      readConfiguration: Self.readFile,
      openSource: { path, wait, now in
        let archive = ArchiveOpening(path: path, temporaryFolder: temporaryFolder)
        if archive.isArchive { return .archive(try archive.open()) }
        let store = StoreOpening(path: path, wait: wait, temporaryFolder: temporaryFolder, now: now)
        return .store(try store.open())
      },
      openStore: { path, wait, verifying in
        guard !ArchiveOpening(path: path, temporaryFolder: temporaryFolder).isArchive else {
          throw CommandFailure.archive(at: path)
        }
        return try StoreOpening(
          path: path, wait: wait, temporaryFolder: temporaryFolder, now: now, intents: intents
        ).openForChanging(verifying: verifying)
      },
      createStore: { store, path, fill in
        try store.create(
          StoreOpening(
            path: path, wait: 0, temporaryFolder: temporaryFolder, now: now, intents: intents),
          filledBy: fill)
      },
      finishIntents: { path, wait in
        StoreOpening(
          path: path, wait: wait, temporaryFolder: temporaryFolder, now: now, intents: intents
        ).finishIntents()
      },
      findStores: { try StoreFinder.discovery(by: $0, temporaryFolder: temporaryFolder) },
      fileSystem: { path in
        let status = try FileSystemStatus.of(path)
        return (status.availableBytes, status.totalBytes)
      },
      openTransport: { try FetchProcess() },
      secondsNow: { Int64(LocalTime.now()) }, steadyMilliseconds: LocalTime.steadyMilliseconds,
      pause: { CurrentProcess.sleep(milliseconds: Int($0)) }, random: { .random(in: 0...$0) },
      isMessageTerminal: StandardStream.error.isTerminal,
      isInputTerminal: StandardStream.input.isTerminal,
      readLine: {
        // A terminal that another process made non-blocking would seem to be at its end.
        StandardStream.input.waitForInput()
        return Swift.readLine()
      })
  }
}
