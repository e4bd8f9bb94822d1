import Administration
public import ArgumentParser
import Files
import Rendering
import ResponseArchives
public import ResponseStorage

/// The options of commands that remove entries.
struct ChangeOptions: ParsableArguments {
  @Flag(
    name: [.customShort("n"), .long],
    help: "Show what would be removed or changed; change nothing.")
  var dryRun = false

  @Flag(name: [.customShort("y"), .long], help: "Do not ask for confirmation.")
  var yes = false

  @Option(
    help: ArgumentHelp(
      "Refuse to remove more than this number or percentage of entries.",
      valueName: "number|percent"),
    transform: parseRemovalCap)
  var maxDelete: RemovalCap?

  @Flag(help: "Skip the SQLite check of the database before changing it; Apple caches only.")
  var noVerify = false

  @OptionGroup var formats: FormatOptions<ChangeFormat>

  @OptionGroup var recording: RecordOptions

  var format: ChangeFormat { formats.format }

  /// Fills in options that the command line does not set.
  mutating func fill(from settings: CacheSettings) {
    maxDelete = maxDelete ?? settings.maxDelete
    recording.log = recording.log ?? settings.log
  }

  /// Asks the user to confirm a plan, if necessary.
  ///
  /// - Returns: Whether to execute the plan.
  /// - Throws: ``CommandFailure`` if the plan exceeds the cap, or if standard input is not a terminal.
  func allow(
    _ plan: RemovalPlan, _ renderer: RemovalRenderer, in environment: CommandEnvironment
  ) throws(CommandFailure) -> Bool {
    // A dry run must show a plan over the cap, so the cap is checked after it.
    if !dryRun { try checkLimit(of: plan) }
    let isEmpty = plan.isEmpty && renderer.sidecars?.isEmpty ?? true
    if dryRun || yes || isEmpty { return true }
    return try Confirmation.remove.ask(
      about: Self.subject(of: plan, renderer.sidecars), in: environment
    ) { text in
      var preview = renderer
      preview.isDryRun = true
      preview.explainsCompaction = false
      preview.appendText(RemovalReceipt(previewing: plan), into: &text)
    }
  }
}

extension ChangeOptions {
  /// Leaves out of a receipt what the user has just seen in the question, or reads in the hint after it.
  func shorten(_ renderer: inout RemovalRenderer, in environment: CommandEnvironment) {
    guard !dryRun else { return }
    // A receipt in a file has the list.
    renderer.listsLargest = yes || !environment.isOutputTerminal
    renderer.explainsCompaction = !environment.suggests
  }

  /// Returns what a plan removes from which cache: `771 entries (12.9 MiB) from com.example.shop`.
  private static func subject(of plan: RemovalPlan, _ sidecars: SidecarChanges?) -> String {
    var parts: [String] = []
    if !plan.entries.isEmpty {
      let size = ByteSizeText.text(plan.bodyBytes)
      parts.append("\(QuantityWords.counted(plan.entries.count, "entry", "entries")) (\(size))")
    }
    if !plan.orphans.isEmpty {
      let size = ByteSizeText.text(plan.orphanBytes)
      parts.append(
        "\(QuantityWords.counted(plan.orphans.count, "orphan", "orphans")) (\(size))")
    }
    let sidecarCount = (sidecars?.removed.count ?? 0) + (sidecars?.written.count ?? 0)
    if sidecarCount > 0 {
      parts.append(QuantityWords.counted(sidecarCount, "sidecar file", "sidecar files"))
    }
    return
      "\(parts.joined(separator: " and ")) from \(Confirmation.title(ofCacheAt: plan.store.path))"
  }

  /// Throws if a plan exceeds the cap; a dry run shows the plan first.
  func checkLimit(of plan: RemovalPlan) throws(CommandFailure) {
    guard let maxDelete, plan.exceeds(maxDelete) else { return }
    let grouped = { (count: Int64) in QuantityWords.grouped(count) }
    let orphans =
      plan.orphans.isEmpty
      ? "" : " and \(QuantityWords.counted(plan.orphans.count, "orphan", "orphans"))"
    throw tooMany(
      "\(grouped(Int64(plan.entries.count))) of \(grouped(plan.storedEntries)) entries\(orphans)")
  }

  /// Returns the failure of a command that exceeds the cap.
  func tooMany(_ what: String) -> CommandFailure {
    CommandFailure(
      .no, kind: "too-many", "\(what) would be removed, more than '--max-delete' allows",
      hint: dryRun ? nil : "list them with '--dry-run'")
  }
}

/// The option of commands that overwrite what they remove.
struct SecureOptions: ParsableArguments {
  // Not a Boolean flag with an inversion: manual pages and completions would describe both alike.
  /// The values of the option.
  enum Choice: EnumerableFlag {
    case secure, noSecure

    static func help(for choice: Choice) -> ArgumentHelp? {
      switch choice {
      case .secure:
        "Overwrite what is removed, rewrite the database, and search the files for traces."
      case .noSecure:
        "Do not overwrite what is removed, even if the configuration has 'secure = true'."
      }
    }
  }

  @Flag(exclusivity: .chooseLast) var secure: Choice?

  /// Whether it is requested.
  var isOn: Bool { secure == .secure }

  /// Fills in options that the command line does not set.
  mutating func fill(from settings: CacheSettings) {
    secure = secure ?? settings.secure.map { $0 ? .secure : .noSecure }
  }

  /// Prepares a renderer for the receipt of a plan.
  func prepare(
    _ renderer: inout RemovalRenderer, for plan: RemovalPlan, in environment: CommandEnvironment
  ) {
    renderer.isSecure = isOn
    renderer.finishesErasure = isOn && environment.mayHaveUnfinishedErasure(plan.store.path)
  }

  /// Returns the removal for a cache; `nil` if it is not requested.
  func removal(
    of cache: CacheOptions, by change: ChangeOptions, backup: String? = nil,
    in environment: CommandEnvironment
  ) -> SecureRemoval? {
    guard isOn else { return nil }
    if let backup, !change.dryRun {
      environment.note("the backup '\(backup)' contains the removed entries; keep it safe")
    }
    return SecureRemoval(
      waiting: cache.waitMilliseconds, skippingCheck: change.noVerify, in: environment)
  }
}

/// The options for the plan of a command that selects entries.
struct PlanOptions: ParsableArguments {
  @OptionGroup var backingUp: BackupOptions

  @Option(
    help: ArgumentHelp(
      "Write the plan to this new file, for 'apply'; change nothing. '-' is standard output.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var plan: String?

  func validate() throws {
    guard backup == nil || plan == nil else {
      throw ValidationError("'--plan' removes nothing, so '--backup' has nothing to export.")
    }
  }

  /// The archive for what is removed.
  var backup: String? { backingUp.backup }

  /// Exports the entries that a plan removes, if requested; see ``BackupOptions``.
  func backUp(
    _ plan: RemovalPlan, of cache: CacheOptions, in environment: CommandEnvironment
  ) throws {
    try backingUp.backUp(plan, of: cache, in: environment)
  }

  /// Whether any of these options is set.
  var isUsed: Bool { backup != nil || plan != nil }

  /// The files to create.
  var newFiles: [NewFileOption] {
    backingUp.newFiles
      + (plan == nil || plan == "-" ? [] : [NewFileOption(option: "--plan", path: plan ?? "")])
  }

  /// Saves the plan to the requested file, which only its owner can read.
  ///
  /// - Returns: Whether a file was requested.
  func save(
    _ plan: RemovalPlan, by verb: String, secure: Bool = false,
    in environment: CommandEnvironment
  ) throws -> Bool {
    guard let path = self.plan else { return false }
    let renderer = PlanRenderer(verb: verb, now: environment.now, isSecure: secure)
    let store = absolutePath(plan.store.path)
    guard path != "-" else {
      var text = TextBuffer()
      try renderer.append(plan, of: store, into: &text, environment.flushIfLarge)
      try environment.write(text.bytes)
      return true
    }
    // Write the plan atomically: 'apply' would execute a part of a plan that a full disk had truncated.
    do {
      let file = try environment.files.create(path, false)
      var text = TextBuffer()
      try renderer.append(plan, of: store, into: &text) { text in
        guard text.bytes.count >= OutputBuffer.pieceLength else { return }
        try file.write(text.bytes)
        text.removeAll(keepingCapacity: true)
      }
      try file.write(text.bytes)
      try file.commit()
    } catch let error as FileError {
      throw CommandFailure(creating: error, canBeForced: false)
    }
    let entries = QuantityWords.counted(plan.entries.count, "entry", "entries")
    let files =
      plan.orphans.isEmpty
      ? "" : " and \(QuantityWords.counted(plan.orphans.count, "orphan", "orphans"))"
    environment.note("saved '\(path)', a plan to remove \(entries)\(files)")
    environment.suggest("apply it with", ["apply", path])
    return true
  }
}

/// The output formats of commands that change a cache.
enum ChangeFormat: String, OutputFormat {
  case table, json
}

/// Parses a cap: `100`, or `10%` of all entries.
func parseRemovalCap(_ text: String) throws -> RemovalCap {
  if text.utf8.last == UInt8(ascii: "%") { return .percent(try parsePercent(text)) }
  guard let count = Int64(text), count >= 0 else {
    throw ValidationError(
      "'\(printable(text))' is not a limit. Use a number of entries, or a percentage such as '10%'."
    )
  }
  return .entries(count)
}

/// The options for the log and metrics; the caller of the command writes them, even after a failure.
struct RecordOptions: ParsableArguments {
  @Option(
    name: [.long, .customLong("metrics")],
    help: ArgumentHelp(
      "Write the result and the state of the cache for Prometheus; not with '--dry-run'.",
      valueName: "file"),
    completion: .file(extensions: ["prom"]))
  var metricsFile: String?

  @Option(
    help: ArgumentHelp(
      "Append the result to this file as a line of JSON; not with '--dry-run'.", valueName: "file"),
    completion: .file())
  var log: String?

  /// The files, with their options.
  var files: [NewFileOption] {
    [("--log", log), ("--metrics-file", metricsFile)].compactMap { option, path in
      path.map { NewFileOption(option: option, path: $0) }
    }
  }
}

/// The options for sidecars.
struct SidecarOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder where the app stores the ETag of each URL in a file, such as"
        + " Library/Caches/etags.",
      valueName: "folder"),
    completion: .directory)
  var sidecars: String?

  /// Rejects the folder of one cache for several caches.
  func check(with scope: ScopeOptions) throws {
    guard sidecars == nil || !scope.allCaches else {
      throw ValidationError(
        "'--sidecars' is the folder of one cache and cannot be combined with '--all-caches'.")
    }
  }

  /// Opens the folder; `nil` if none is given.
  func open() throws -> SidecarFolder? {
    guard let path = sidecars else { return nil }
    do throws(FileError) {
      return try SidecarFolder(path)
    } catch {
      // Files are removed in this folder. A link that somebody else put there could make it any
      // other.
      guard error.kind == .symbolicLink else { throw CommandFailure(error) }
      throw CommandFailure.usage(
        "'\(path)' is a symbolic link, which '--sidecars' does not follow",
        hint: "give the folder that it points to")
    }
  }
}

extension SidecarNaming: ExpressibleByArgument {}
