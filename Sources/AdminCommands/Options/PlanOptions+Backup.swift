import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

extension PlanOptions {
  /// Exports the entries of a plan, if requested, for `import`.
  ///
  /// Entries that have changed since the plan was made are neither exported nor removed.
  ///
  /// - Throws: ``CommandFailure``, also if the archive cannot contain an entry: then no archive is written, and no
  ///   entry is removed that could not be restored.
  func backUp(
    _ plan: RemovalPlan, of cache: CacheOptions, in environment: CommandEnvironment
  ) throws {
    guard let path = backup, !plan.entries.isEmpty else { return }
    let source = try cache.open(in: environment)
    var export = ArchiveExport(
      try Self.format(ofBackup: path), generatorVersion: URLCacheAdmin.versionNumber,
      temporaryFolder: environment.temporaryFolder)
    export.isSelection = true
    export.created = cache.now(in: environment)
    // A backup never replaces a file.
    let target = try ArchiveOutput(path: path, isForced: nil, environment)
    // Both are in ascending order of ids, so one pass is enough.
    var rest = plan.entries.makeReader()
    var next = try rest.next()
    let summary = try environment.showingProgress("Writing the backup", over: source) {
      try export.run(on: source, [.key, .stored, .file]) { response in
        while let entry = next, entry.version.id < response.id { next = try rest.next() }
        guard let entry = next else { return false }
        // The removal makes the same comparison, so what is removed is in the backup, and nothing
        // else.
        return entry.version.isStill(response)
      } writing: {
        try target.write($0)
      }
    }
    try source.finish()
    if let omission = summary.omissions.first {
      let count = omission.count
      // A backup that lacks an entry is found out when it is needed. So it is all or nothing,
      // before anything is removed.
      throw CommandFailure(
        .no, kind: "not-in-backup",
        "cannot back up \(count) of the selected entries, so nothing was removed: "
          + omission.reason,
        hint: "select other entries, or remove these without '--backup'", path: path)
    }
    try target.commit()
    environment.note(
      "backed up \(Confirmation.counted(Int(summary.entries), "entry", "entries")) to '\(path)'; restore with: "
        + Self.restoreCommand(backup: path, cache: plan.store.path))
  }

  /// Returns the command that restores a backup, for a shell in any folder.
  ///
  /// A log may be read later and elsewhere, so both paths are absolute.
  static func restoreCommand(backup: String, cache: String) -> String {
    let words = [backup, cache].map { ShellText.word(ByteString(absolutePath($0))) }
    return "urlcache-admin import \(words[0]) -c \(words[1])"
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
