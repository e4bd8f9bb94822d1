public import ArgumentParser
import Bytes
import Files
import Administration
import Rendering
import ResponseStorage
public import SampleCaches

extension URLCacheAdmin {
  /// `urlcache-admin sample`: makes a cache to try things with.
  struct Sample: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "sample",
      abstract: "Make a cache with made-up entries, to try things with.",
      usage: "urlcache-admin sample [<options>] <folder>",
      discussion: """
        The folder is created, or must be empty. The entries are made up, but have
        header fields, sizes and ages like those of a real cache. With the same
        '--entries', '--seed', '--newest' and format, the bytes are the same; in the
        Apple format, only with the same version of SQLite.
        """)

    @Argument(help: "The folder to make the cache in.", completion: .directory)
    var folder: String

    @Option(
      help: "The format: \(SampleCache.Format.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = SampleCache.Format.apple

    @Option(
      help: ArgumentHelp("The version of the Apple format: 202 or 203.", valueName: "number"))
    var schema: Int64 = AppleSchema.version203.rawValue

    @Option(help: ArgumentHelp("How many entries to make.", valueName: "number"))
    var entries = 2_000

    @Option(
      help: ArgumentHelp(
        "The same number makes the same entries.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
      help: ArgumentHelp("When the newest entry was stored, instead of now.", valueName: "time"),
      transform: parseTime)
    var newest: WrittenTime?

    @Option(
      help: ArgumentHelp(
        "Add these faults: \(SampleFaults.allValueStrings.joined(separator: ", ")).",
        valueName: "kind,…"))
    var faults: SampleFaults?

    @Flag(help: "Keep all bodies small enough for the database.")
    var noLargeBodies = false

    @Flag(help: "Make the entries as small as possible, with few header fields.")
    var tiny = false

    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup var messages: MessageOptions

    var isQuiet: Bool { messages.quiet }
    var writesJSON: Bool { false }
    var outputPurpose: OutputPurpose { .receipt }

    func validate() throws {
      guard AppleSchema(rawValue: schema) != nil else {
        throw ValidationError("'--schema' must be 202 or 203.")
      }
      guard entries >= 0 else { throw ValidationError("'--entries' cannot be less than zero.") }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      // Before anything is made, since a million entries take a while.
      try checkFolder()
      var cache = SampleCache()
      cache.format = format
      cache.schema = AppleSchema(rawValue: schema) ?? .version203
      (cache.entries, cache.seed) = (entries, seed)
      // To the second, so that what is printed of it makes the same cache again.
      let time = newest?.time ?? environment.now
      cache.newest = Timestamp(secondsSince1970: Double(time.wholeSeconds)) ?? time
      cache.faults = faults?.kinds ?? []
      (cache.hasOnlyShortBodies, cache.isTiny) = (noLargeBodies, tiny)
      try environment.showingProgress("Making entries", of: Int64(entries)) {
        try environment.writeSample(cache, folder)
      }
      let count = QuantityWords.counted(entries, "entry", "entries")
      // 'list' shows them as entries, too.
      let lists = format == .webkit ? " and the lists of what their pages loaded" : ""
      if !isQuiet {
        try environment.write(Array("Made '\(printable(folder))' with \(count)\(lists)\n".utf8))
      }
      return .done
    }

    /// Refuses a folder that cannot be created, or in which there is something already.
    private func checkFolder() throws {
      do throws(FileError) {
        try Directory.createParents(of: folder)
      } catch {
        throw Self.refusal(of: folder, "the folder \(error)")
      }
      guard let existing = try? Directory(folder, followingLink: true) else { return }
      var isEmpty = true
      try existing.forEachName { _ in isEmpty = false }
      guard isEmpty else { throw Self.refusal(of: folder, "the folder is not empty") }
    }

    private static func refusal(of folder: String, _ reason: String) -> CommandFailure {
      CommandFailure(
        .cannotCreate, kind: "cannot-create", "cannot make a cache in '\(folder)': \(reason)",
        hint: "give the path of a new folder in an existing folder", path: folder)
    }
  }
}

extension SampleCache.Format: ExpressibleByArgument {}

/// The list of faults on the command line.
struct SampleFaults: ExpressibleByArgument {
  /// The faults.
  let kinds: Set<Fault>

  init?(argument: String) {
    var kinds: Set<Fault> = []
    // An empty name, as of a variable that is not set, must fail and not give a store without
    // faults.
    for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let fault = Fault(rawValue: String(name)) else { return nil }
      kinds.insert(fault)
    }
    self.kinds = kinds
  }

  static let allValueStrings = Fault.allCases.map(\.rawValue)
}
