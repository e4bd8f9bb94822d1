import Administration
import ArgumentParser
import Files
import Rendering
import ResponseArchives
import ResponseStorage

/// How a command that removes entries goes about it.
struct ChangeOptions: ParsableArguments {
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed, and change nothing.")
  var dryRun = false

  @Flag(name: [.customShort("y"), .long], help: "Do not ask.")
  var yes = false

  @Option(
    help: ArgumentHelp(
      "Refuse to remove more than so many entries, or more than this share of them.",
      valueName: "number|percent"),
    transform: parseRemovalCap)
  var maxDelete: RemovalCap?

  @Flag(help: "Do not have SQLite check the database before it is changed; a folder has none.")
  var noVerify = false

  @Option(help: "How to write: table, json.")
  var format = ChangeFormat.table

  @OptionGroup var recording: RecordOptions

  /// Takes what is set elsewhere where the command line does not give it.
  mutating func fill(from settings: CacheSettings) {
    maxDelete = maxDelete ?? settings.maxDelete
  }

  /// Makes sure that the user wants what a plan says.
  ///
  /// - Returns: Whether to carry the plan out.
  /// - Throws: ``CommandFailure`` if the plan removes too much, or if there is nobody to ask.
  func allow(
    _ plan: RemovalPlan, _ renderer: RemovalRenderer, in environment: CommandEnvironment
  ) throws(CommandFailure) -> Bool {
    if !dryRun { try checkLimit(of: plan) }
    let isEmpty = plan.isEmpty && renderer.sidecars?.isEmpty ?? true
    if dryRun || yes || isEmpty { return true }
    return try Confirmation.remove.ask(in: environment) { text in
      var preview = renderer
      preview.isDryRun = true
      preview.appendText(RemovalReceipt(previewing: plan), into: &text)
    }
  }
}

extension ChangeOptions {
  /// Makes sure that a plan removes no more than is allowed; a dry run shows it first.
  func checkLimit(of plan: RemovalPlan) throws(CommandFailure) {
    guard let maxDelete, plan.exceeds(maxDelete) else { return }
    let orphans = plan.orphans.isEmpty ? "" : " and \(plan.orphans.count) body files"
    throw tooMany("\(plan.entries.count) of \(plan.storedEntries) entries\(orphans)")
  }

  /// The failure of a command that would remove more than is allowed.
  func tooMany(_ what: String) -> CommandFailure {
    CommandFailure(
      .no, kind: "too-many", "\(what) would go, more than '--max-delete' allows",
      hint: dryRun ? nil : "look at them with '--dry-run'")
  }
}

/// What a command that selects entries itself can do with its plan.
struct PlanOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "First export what will go to this new archive, for 'import'.", valueName: "file"),
    completion: .file(extensions: ExportFormat.extensions { $0.isNative }))
  var backup: String?

  @Option(
    help: ArgumentHelp(
      "Write the plan to this new file, for 'apply', and change nothing; '-' is the output.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var plan: String?

  func validate() throws {
    if let backup { _ = try Self.format(ofBackup: backup) }
    guard backup == nil || plan == nil else {
      throw ValidationError("'--plan' removes nothing that '--backup' could keep.")
    }
  }

  /// Whether any of the options was given.
  var isUsed: Bool { backup != nil || plan != nil }

  /// The files that are to be created.
  var newFiles: [NewFileOption] {
    [("--backup", backup), ("--plan", plan == "-" ? nil : plan)].compactMap { option, path in
      path.map { NewFileOption(option: option, path: $0) }
    }
  }

  /// Writes the plan to the file that it is wanted in, which only its owner may read.
  ///
  /// - Returns: Whether it is wanted in a file.
  func save(
    _ plan: RemovalPlan, by verb: String, in environment: CommandEnvironment
  ) throws -> Bool {
    guard let path = self.plan else { return false }
    var text = TextBuffer()
    PlanRenderer(verb: verb, now: environment.now)
      .append(plan, of: absolutePath(plan.store.path), into: &text)
    guard path != "-" else {
      try environment.write(text.bytes)
      return true
    }
    // A plan appears whole: of one that a full disk cut short, 'apply' would carry out a part.
    do throws(FileError) {
      var file = try NewFile(at: path, replacing: false)
      try file.write(text.bytes)
      try file.commit(replacing: false)
    } catch {
      throw CommandFailure(creating: error, canBeForced: false)
    }
    let count = plan.entries.count
    let files = plan.orphans.isEmpty ? "" : " and \(plan.orphans.count) body files"
    environment.note(
      "'\(path)' plans to remove \(count) \(count == 1 ? "entry" : "entries")\(files)")
    return true
  }
}

/// The formats of commands that change a cache.
enum ChangeFormat: String, CaseIterable, ExpressibleByArgument {
  case table, json
}

/// A cap on the command line: `100`, or `10%` of all entries.
func parseRemovalCap(_ text: String) throws -> RemovalCap {
  if text.utf8.last == UInt8(ascii: "%") { return .percent(try parsePercent(text)) }
  guard let count = Int64(text), count >= 0 else {
    throw ValidationError(
      "'\(printable(text))' is no limit. Write a number of entries, or a share such as '10%'.")
  }
  return .entries(count)
}
