import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

/// The option for a way back: what a command removes or changes is exported first.
struct BackupOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Before removing or changing entries, export them to this new archive, for 'import'.",
      valueName: "file"),
    completion: .file(extensions: ExportFormat.extensions { $0.isNative }))
  var backup: String?

  /// What happens to the entries of a backup.
  enum Loss {
    /// They are removed.
    case removal
    /// They are changed or replaced, so that the cache has others with their keys.
    case change
  }

  func validate() throws {
    if let backup { _ = try Self.format(ofBackup: backup) }
  }

  /// The file to create.
  var newFiles: [NewFileOption] {
    backup.map { [NewFileOption(option: "--backup", path: $0)] } ?? []
  }

  /// Exports the entries that a plan removes, if requested, for `import`.
  ///
  /// - Throws: As ``backUp(before:of:in:_:)``.
  func backUp(
    _ plan: RemovalPlan, of cache: CacheOptions, in environment: CommandEnvironment
  ) throws {
    if plan.entries.isEmpty { return }
    var rest = plan.entries.makeReader()
    try backUp(before: .removal, of: cache, in: environment) { try rest.next()?.version }
    if backup == nil || !plan.store.traits.hasLists { return }
    let source = try cache.open(in: environment)
    var lists: Int64 = 0
    try plan.entries.forEach { entry in
      if try source.response(entry.version.id, .storage)?.isResponse == false { lists += 1 }
    }
    try source.finish()
    if lists > 0 {
      environment.note(
        "\(QuantityWords.counted(lists, "list", "lists")) of what pages loaded will be removed without a backup; WebKit"
          + " writes them again")
    }
  }

  /// Exports entries, if requested, for `import`.
  ///
  /// Entries that have changed since the plan was made are neither exported nor removed or changed.
  ///
  /// - Parameter nextVersion: Returns the entries in ascending order of ids, each as it was when the plan was made; `nil` at
  ///   the end.
  /// - Throws: ``CommandFailure``, also if the archive cannot contain an entry: then no archive is written, and no
  ///   entry is removed or changed that could not be restored.
  func backUp(
    before loss: Loss, of cache: CacheOptions, in environment: CommandEnvironment,
    _ nextVersion: () throws -> ResponseVersion?
  ) throws {
    guard let path = backup else { return }
    let source = try cache.open(in: environment)
    var export = ArchiveExport(
      try Self.format(ofBackup: path), generatorVersion: URLCacheAdmin.versionNumber)
    export.isSelection = true
    export.created = cache.now(in: environment)
    // A backup never replaces a file.
    let target = try ArchiveOutput(path: path, isForced: nil, environment)
    // Both are in ascending order of ids, so one pass is enough.
    var next = try nextVersion()
    var omitted = ArchiveOmission("an import cannot replace an entry without a key", count: 0)
    let summary = try environment.showingProgress("Writing the backup", over: source) {
      try export.run(on: source, [.key, .stored, .file]) { response in
        while let version = next, version.id < response.id { next = try nextVersion() }
        // The change makes the same comparison, so what is changed is in the backup, and nothing
        // else.
        guard let version = next, version.isStill(response) else { return false }
        if loss == .change, response.key == nil {
          omitted.count += 1
          return false
        }
        return true
      } writing: {
        try target.write($0)
      }
    }
    try source.finish()
    if let omission = omitted.count > 0 ? omitted : summary.omissions.first {
      throw Self.failure(omission, before: loss, at: path)
    }
    try target.commit()
    environment.note(
      "backed up \(QuantityWords.counted(summary.entries, "entry", "entries")) to '\(path)'; restore with: "
        + Self.restoreCommand(
          backup: path, cache: source.description.path, replacing: loss == .change))
  }

  private static func failure(
    _ omission: ArchiveOmission, before loss: Loss, at path: String
  ) -> CommandFailure {
    let (done, verb) = loss == .removal ? ("removed", "remove") : ("changed", "change")
    // A backup that lacks an entry is found out when it is needed. So it is all or nothing,
    // before anything is changed.
    return CommandFailure(
      .no, kind: "not-in-backup",
      "cannot back up \(omission.count) of the selected entries, so nothing was \(done): "
        + omission.reason,
      hint: "select other entries, or \(verb) these without '--backup'", path: path)
  }

  /// Returns the command that restores a backup, for a shell in any folder.
  ///
  /// A log may be read later and elsewhere, so both paths are absolute.
  ///
  /// - Parameter isReplacing: Whether the cache has other entries with the same keys.
  static func restoreCommand(
    backup: String, cache: String, replacing isReplacing: Bool = false
  ) -> String {
    let words = [backup, cache].map { ShellText.word(ByteString(absolutePath($0))) }
    return "urlcache-admin import \(words[0]) -c \(words[1])"
      + (isReplacing ? " --on-conflict replace" : "")
  }

  /// Returns the format of a backup, according to its name.
  static func format(ofBackup path: String) throws -> ExportFormat {
    // Only native archives restore an entry completely. HAR and WARC leave out credentials and
    // property lists.
    guard let format = ExportFormat(ofFileNamed: path), format.isNative else {
      let endings = ExportFormat.endingsInWords(ExportFormat.allCases.filter(\.isNative))
      throw ValidationError("The name of a backup must end with \(endings).")
    }
    return format
  }
}
