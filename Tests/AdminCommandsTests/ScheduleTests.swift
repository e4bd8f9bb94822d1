import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines like a timer, on a clock that only advances when a command waits or removes entries.
@Suite struct ScheduleTests {
  private let start = Timestamp(secondsSince1970: 1_767_225_600)

  @Test func `a command starts after a random delay and uses that time`() throws {
    // The only entry is an hour old before the wait, and more than two hours old after it.
    let words = ["purge", "--older-than", "2h", "--yes", "--splay", "4h"]
    let (result, world) = try run(words)
    #expect(world.pauses == [7_200_000])
    #expect(world.randomLimits == [14_400_000])
    #expect(result.removed == [.row(1)])
    #expect(result.messages == "note: starting in 2 hours, because of '--splay'\n")
    #expect(try run(Array(words.dropLast(2))).result.removed == [])
  }

  @Test(
    arguments: [
      (["purge", "--all", "--dry-run"], .done),
      (["purge", "--all", "--yes", "--nonsense"], .usage),
      (["metrics"], .usage),
    ] as [([String], AdminCommands.ExitStatus)])
  func `read-only commands do not wait`(words: [String], status: AdminCommands.ExitStatus)
    throws
  {
    let (result, world) = try run(words + ["--splay", "4h"])
    #expect(result.status == status)
    #expect(world.pauses == [])
  }

  @Test func `a command for all caches waits once`() throws {
    let (result, world) = try run(
      ["purge", "--all", "--yes", "--all-caches", "--splay", "1h"], caches: ["a", "b"])
    #expect(world.pauses == [1_800_000])
    #expect(result.removed == [.row(1), .row(1)])
  }

  @Test(arguments: ["purge", "enforce", "compact"])
  func `a cache in use is skipped on request`(verb: String) throws {
    let words = [verb] + (Self.options[verb] ?? [])
    let failed = try run(words, busyFor: 1).result
    #expect(failed.status == .temporary)
    #expect(failed.messages.hasPrefix("error: the cache at 'memory' is in use\n"))
    #expect(failed.removed == [])
    #expect(try run(words + ["--if-busy", "fail"], busyFor: 1).result == failed)
    #expect(
      try run(words + ["--if-busy", "skip"], busyFor: 1).result
        == CommandLineResult(
          status: .done, output: "Skipped: the cache at 'memory' is in use\n"))
    #expect(
      try run(words + ["--if-busy", "skip", "--format", "json"], busyFor: 1).result
        == CommandLineResult(
          status: .done,
          output: #"{"schema":"urlcache-admin.skipped/1","verb":"\#(verb)","cache":"memory","#
            + #""reason":"busy","message":"the cache at 'memory' is in use"}"# + "\n"))
  }

  @Test func `a started removal is not skipped`() throws {
    let result = try run(
      ["purge", "--all", "--yes", "--if-busy", "skip"], entries: 3, busyAfter: 1
    ).result
    #expect(result.status == .temporary)
    #expect(result.removed == [.row(1)])
    #expect(result.messages.hasPrefix("note: removed 1 entry before the error\nerror: "))
  }

  @Test func `a cache in use is retried until it is free`() throws {
    let (result, world) = try run(["purge", "--all", "--yes", "--if-busy", "wait"], busyFor: 3)
    #expect(result.status == .done)
    #expect(result.removed == [.row(1)])
    #expect(world.pauses == [1_000, 1_000, 1_000])
    #expect(result.messages == "note: the cache at 'memory' is in use; trying again\n")
  }

  @Test func `ages are those at the time of the last try`() throws {
    let words = ["purge", "--older-than", "3599s", "--yes", "--if-busy", "wait"]
    #expect(try run(words, entries: 3).result.removed == [.row(1)])
    #expect(try run(words, entries: 3, busyFor: 1).result.removed == [.row(1), .row(2)])
  }

  @Test func `a cache that stays in use is given up at the timeout`() throws {
    let (result, world) = try run(
      ["purge", "--all", "--yes", "--if-busy", "wait", "--max-runtime", "2500ms"], busyFor: 99)
    #expect(result.status == .temporary)
    #expect(result.removed == [])
    #expect(world.pauses == [1_000, 1_000, 1_000])
  }

  @Test(arguments: ["purge", "enforce"])
  func `the rest at the timeout is reported`(verb: String) throws {
    let words = [verb, "--max-runtime", "2s"] + (Self.options[verb] ?? [])
    let result = try run(words, entries: 5).result
    #expect(result.status == .partly)
    #expect(result.removed == [.row(1), .row(2)])
    #expect(result.output.contains("Removed 2 of 5 entries"))
    #expect(result.output.contains("\nNot removed because the command was stopped: 3 entries\n"))
    #expect(result.messages == "note: stopped by '--max-runtime'; not removed: 3 entries\n")
    let json = try run(words + ["--format", "json"], entries: 5).result.output
    #expect(json.contains(#""left":3,"stopped_by":"max-runtime""#))
    let whole = try run([verb] + (Self.options[verb] ?? []), entries: 5).result
    #expect(whole.removed.count == 5)
  }

  @Test func `all caches share the time limit`() throws {
    let words = ["purge", "--all", "--yes", "--all-caches", "--max-runtime", "3s"]
    let result = try run(words, caches: ["a", "b", "c"], entries: 2).result
    #expect(result.status == .partly)
    #expect(result.removed == [.row(1), .row(2), .row(1)])
    #expect(
      result.output.hasSuffix(
        "Skipped: '--max-runtime' was reached before this cache's turn\n"))
  }

  @Test(arguments: [
    (["--max-runtime", "0s"], "'--max-runtime' must be more than zero."),
    (["--splay", "1m"], "'--splay': '1m' could mean minutes or months\n"),
    (["--if-busy", "later"], "'later'"),
    (
      ["--if-busy", "wait", "--backup", "x.tar"],
      "'--if-busy wait' cannot be combined with '--backup', which is written only once"
    ),
  ])
  func `an invalid schedule is refused`(options: [String], message: String) throws {
    let result = try run(["purge", "--all", "--yes"] + options).result
    #expect(result.status == .usage)
    #expect(result.messages.contains(message), "\(result.messages)")
    #expect(result.removed == [])
  }

  /// The options with which each command changes a whole cache.
  private static let options = [
    "purge": ["--all", "--yes"], "enforce": ["--max-entries", "0", "--yes"], "compact": ["--full"],
  ]

  /// Runs a command line.
  ///
  /// - Parameters:
  ///   - caches: The names of caches in the configuration; if empty, the cache is given by `-c`.
  ///   - entries: The number of entries in the cache; removing each takes a second.
  ///   - busy: The number of attempts for which the cache is in use.
  ///   - removals: The number of entries removed before another process takes the lock; `nil` if none does.
  private func run(
    _ words: [String], caches: [String] = [], entries: Int64 = 1,
    busyFor busy: Int = 0, busyAfter removals: Int? = nil
  ) throws -> (result: CommandLineResult, world: SteppedWorld) {
    let start = try #require(start)
    let world = SteppedWorld(timesBusy: busy, removalsUntilBusy: removals)
    var (output, messages) = ([UInt8](), "")
    let file = caches.map { "[caches.\($0)]\npath = '/\($0)'\n" }.joined()
    let environment = CommandEnvironment(
      now: start, variable: { $0 == "URLCACHE_ADMIN_CONFIG" && !caches.isEmpty ? "file" : nil },
      write: { output += $0 }, writeMessage: { messages += $0 },
      readConfiguration: { $0 == "file" ? Array(file.utf8) : nil },
      openSource: { _, _, _ in .store(world.source(entries, storedAt: start)) },
      openStore: { path, _, _ in try world.open(path) },
      secondsNow: { start.wholeSeconds + world.milliseconds / 1_000 },
      steadyMilliseconds: { world.milliseconds }, pause: world.pause, random: world.random)
    let cache = caches.isEmpty ? ["-c", "memory"] : []
    let status = URLCacheAdmin.run(["urlcache-admin"] + words + cache, in: environment)
    var result = CommandLineResult(
      status: status, output: String(decoding: output, as: UTF8.self), messages: messages)
    result.removed = world.removed
    return (result, world)
  }
}

/// A cache, and a clock that advances on waits, and by a second for each removed entry.
private final class SteppedWorld: RemovingStore {
  private(set) var milliseconds: Int64 = 0
  private(set) var pauses: [Int64] = []
  private(set) var randomLimits: [Int64] = []
  private(set) var removed: [StoredResponse.ID] = []
  private var timesBusy: Int
  private let removalsUntilBusy: Int?

  init(timesBusy: Int, removalsUntilBusy: Int?) {
    self.timesBusy = timesBusy
    self.removalsUntilBusy = removalsUntilBusy
  }

  func pause(_ milliseconds: Int64) {
    pauses.append(milliseconds)
    self.milliseconds += milliseconds
  }

  /// Returns the middle of the range.
  func random(_ limit: Int64) -> Int64 {
    randomLimits.append(limit)
    return limit / 2
  }

  /// Returns entries of which the first was stored an hour before `moment`, and each other one a second later.
  func source(_ count: Int64, storedAt moment: Timestamp) -> MemoryStore {
    var store = MemoryStore(
      (1...count).map { number in
        var response = StoredResponse(id: .row(number))
        response.url = ByteString("https://a.example/\(number)")
        response.bodySize = 1
        response.bodyLocation = .inline
        response.stored = Timestamp(
          secondsSince1970: moment.secondsSince1970 - 3_600 + Double(number - 1))
        return response
      })
    store.size.freeBytes = 4_096
    store.size.databaseBytes = 8_192
    return store
  }

  func open(_ path: String) throws -> any ResponseStore {
    guard timesBusy == 0 else {
      timesBusy -= 1
      throw StoreError(.inUse, at: path)
    }
    return self
  }

  func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    while let response = responses.next(), !shouldStop() {
      guard removed.count != removalsUntilBusy else { throw StoreError(.inUse, at: "memory") }
      removed.append(response.id)
      removal.visited += 1
      milliseconds += 1_000
    }
  }

  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) {}

  func compact(fully: Bool, unless shouldStop: () -> Bool) -> CompactionMethod { .rewrite }
}
