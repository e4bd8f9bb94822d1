import Administration
import ArgumentParser
import Rendering
import ResponseArchives
import ResponseStorage

extension PlanOptions {
  /// Exports what a plan removes, if that is wanted, as `import` restores it.
  ///
  /// What has changed since the plan was made is not in the archive; neither is it removed.
  func backUp(
    _ plan: RemovalPlan, of cache: CacheOptions, in environment: CommandEnvironment
  ) throws {
    guard let path = backup, !plan.entries.isEmpty else { return }
    let source = try cache.openRaw(in: environment)
    var export = ArchiveExport(
      try Self.format(ofBackup: path), generatorVersion: URLCacheAdmin.versionNumber,
      temporaryFolder: environment.temporaryFolder)
    export.isSelection = true
    export.created = cache.now(in: environment)
    let target = try ArchiveOutput(path: path, isForced: nil, environment)
    // Both are in the order of the ids.
    var rest = plan.entries[...]
    let summary = try export.run(on: source, [.key, .stored, .file]) { response in
      rest = rest.drop { $0.version.id < response.id }
      guard let entry = rest.first else { return false }
      return entry.version.isStill(response)
    } writing: {
      try target.write($0)
    }
    try source.finish()
    try target.commit()
    environment.note(
      "'\(path)' holds \(summary.entries) \(summary.entries == 1 ? "entry" : "entries"); "
        + Self.wayBack(to: plan.store.format))
    environment.tell(ofGapsIn: summary)
  }

  /// How a backup is put back. A folder of Foundation's that has no entry any more cannot be told from
  /// others, and has to be called one.
  private static func wayBack(to format: StoreDescription.Format) -> String {
    format == .foundation
      ? "put back with 'urlcache-admin import', and '--create foundation' if no entry is left"
      : "put back with 'urlcache-admin import --any-method'"
  }

  /// The format of a backup, which its name must tell.
  static func format(ofBackup path: String) throws -> ExportFormat {
    guard let format = ExportFormat(ofFileNamed: path), format.isNative else {
      let endings = ExportFormat.endingsInWords(ExportFormat.allCases.filter(\.isNative))
      throw ValidationError("The name of a backup ends with \(endings).")
    }
    return format
  }
}
