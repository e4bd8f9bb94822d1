import Administration
import ArgumentParser
import Files
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin import`: puts entries of an archive into a cache.
  struct Import: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Put entries of an archive into a cache, also beside a running app.",
      discussion: """
        The archive is one of 'export', or a HAR of any program: its bytes tell which,
        not its name. All of it is read, and compared with its digests if it has any,
        before anything is written. Then all entries come at once, or none; into a
        folder of Foundation's one after the other, each as a whole. An app sees them
        when it asks for them next, unless it has others in memory. What a folder of
        Foundation's has no place for is lost, and the receipt says what that is.

        EXIT STATUS
          0 done · 1 a named URL or id is not there, or '--on-conflict error' · 3
          entries were left out, as they are not whole, their method is not GET, or the
          cache changed meanwhile · 64 · 65 not an archive, damaged, or beyond a limit
          · 66 · 73 · 74 · 75 · 77 · 130 · 143
        """)

    @Argument(
      help: "The archive.", completion: .file(extensions: ExportFormat.extensions { _ in true }))
    var file: String

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var importing: ImportOptions
    @OptionGroup var secrets: SecretOptions

    @Flag(name: [.customShort("n"), .long], help: "Show what would be imported; change nothing.")
    var dryRun = false

    @Option(help: "How to write: table, json.")
    var format = ChangeFormat.table

    var writesJSON: Bool { format == .json }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let path = try cache.path(in: environment)
      let archive = try ArchiveOpening(
        path: file, limits: importing.limits, temporaryFolder: environment.temporaryFolder
      ).open()
      for note in archive.description.notes { environment.note(note) }
      let (plan, target) = try plan(from: archive, into: path, in: environment)
      if let damage = plan.damage {
        environment.note("only what comes before the damage is taken: \(damage)")
      }
      var result = ImportResult()
      if !dryRun, plan.changesAnything || importing.create != nil {
        result = try carryOut(plan, from: archive, into: path, in: environment)
      }
      try archive.finish()
      try write(plan, result, target, path, in: environment)
      let isPartly =
        plan.count(.reject) > 0 || plan.count(.otherMethod) > 0 || !result.changed.isEmpty
        || plan.damage != nil
      guard plan.absent.isEmpty else {
        return environment.report(absent: plan.absent, secrets.policy)
      }
      return isPartly ? .partly : .done
    }

    /// Makes the plan; the cache is not open afterwards.
    private func plan(
      from archive: any ResponseArchive, into path: String, in environment: CommandEnvironment
    ) throws -> (ImportPlan, StoreDescription?) {
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, in: environment)
      let source = try target(path, in: environment)
      guard let target = source ?? importing.newStore as (any ResponseTarget)? else {
        throw StoreError(.notFound, at: path)
      }
      do {
        let plan = try ImportPlan(
          importing: archive, selection, into: target, rule: importing.onConflict, now: now,
          anyMethod: importing.anyMethod, rewriting: importing.rewriting(at: environment.now),
          salvaging: importing.salvage)
        try source?.finish()
        return (plan, source?.description)
      } catch let conflict as ImportConflict {
        let url = conflict.url.map { HostileText.shown(secrets.policy.url($0, for: .people)) }
        throw CommandFailure(
          .no, kind: "conflict",
          "the cache has another entry for '\(url?.string ?? "-")', and nothing was imported",
          hint: "choose with '--on-conflict skip', 'replace' or 'newer'", path: path)
      }
    }

    /// The cache as it is now; `nil` for one that is yet to be made.
    private func target(
      _ path: String, in environment: CommandEnvironment
    ) throws -> (any KeyedResponseSource)? {
      if importing.create != nil, try !environment.hasCache(at: path) { return nil }
      let source = try cache.openForPlanning(in: environment)
      guard let keyed = source as? any KeyedResponseSource else {
        throw CommandFailure.usage("nothing is imported into a cache of this format")
      }
      if let new = importing.newStore, source.description.format != new.format {
        throw CommandFailure(
          .cannotCreate, kind: "cannot-create", "there is a cache of another kind at '\(path)'",
          hint: "name another folder with '-c'", path: path)
      }
      // An import that was cut short has left an empty cache.
      guard try importing.create == nil || source.count() == 0 else {
        throw CommandFailure(
          .cannotCreate, kind: "cannot-create",
          "there is a cache with entries at '\(path)' already",
          hint: "leave out '--create' to import into it", path: path)
      }
      return keyed
    }

    private func carryOut(
      _ plan: ImportPlan, from archive: any ResponseArchive, into path: String,
      in environment: CommandEnvironment
    ) throws -> ImportResult {
      // A signal ends the process when nothing is half done.
      let signals = HeldSignals()
      var result = ImportResult()
      func fill(_ store: any ResponseStore) throws {
        guard let store = store as? any RawResponseStore else {
          throw CommandFailure.usage("nothing is imported into a cache of this format")
        }
        do {
          result = try plan.carryOut(from: archive, in: store) { signals.haveCome }
        } catch is ImportInterruption {
          throw FileError.interrupted(at: path)
        }
      }
      if let new = importing.newStore, try !environment.hasCache(at: path) {
        try environment.create(new, at: path, filledBy: fill)
      } else {
        try fill(environment.openStore(path, cache.waitMilliseconds, !importing.noVerify))
      }
      return result
    }

    private func write(
      _ plan: ImportPlan, _ result: ImportResult, _ target: StoreDescription?, _ path: String,
      in environment: CommandEnvironment
    ) throws {
      let renderer = ImportRenderer(isDryRun: dryRun, secrets: secrets.policy)
      var output = OutputBuffer(environment)
      switch format {
      case .table: renderer.appendText(plan, result, into: &output.text)
      case .json:
        let new = StoreDescription(
          path: path, format: importing.newStore?.format ?? .apple, schemaVersion: nil)
        renderer.beginJSON(plan, result, into: target ?? new, into: &output.text)
        for index in plan.entries.indices {
          renderer.appendJSON(index, of: plan, result, into: &output.text)
          try output.flushIfLarge()
        }
        renderer.endJSON(plan, into: &output.text)
      }
      try output.flush()
    }
  }
}

extension CommandEnvironment {
  /// Creates an empty cache, and fills it.
  fileprivate func create(
    _ store: NewStore, at path: String, filledBy fill: (any ResponseStore) throws -> Void
  ) throws {
    var isMade = false
    do {
      try createStore(store, path) { store in
        isMade = true
        try fill(store)
      }
    } catch let error as StoreError where error.code == .inputOutput && !isMade {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create",
        "no cache can be made at '\(path)': \(error.reason ?? "the system failed")",
        hint: "name a folder that is new or empty with '-c'", path: path)
    }
  }

  /// Whether there is a database where a cache is to be made.
  fileprivate func hasCache(at path: String) throws -> Bool {
    do {
      _ = try openSource(path, 0, now)
      return true
    } catch let error as StoreError where error.code == .notFound || error.code == .notACache {
      if error.code == .notFound { return false }
      // A folder without a database will do; a file that is no database will not.
      guard (try? FileStatus.of(path))?.kind == .directory,
        (try? FileStatus.of("\(path)/Cache.db")) == nil
      else { throw error }
      return false
    }
  }
}
