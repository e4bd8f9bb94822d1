import Administration
import ArgumentParser
import Files
import JSON
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin apply`: executes a saved plan.
  struct Apply: RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "apply",
      abstract: "Carry out a plan written with '--plan FILE'.",
      discussion: """
        Skips entries that changed or were removed since the plan was made, and
        entries that are pinned now. Uses the cache that the plan was made for, unless
        '-c' names another.
        """)

    /// Enough for a million entries with long URLs.
    private static let largestPlan = 1 << 30

    @Argument(help: "The plan; '-' is standard input.", completion: .file(extensions: ["json"]))
    var file: String

    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Changes") var change: ChangeOptions
    @OptionGroup(title: "Changes") var pinning: PinOptions
    @OptionGroup(title: "Changes") var backingUp: BackupOptions
    @OptionGroup(title: "Changes") var securing: SecureOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var inputs: [String] { [file] }

    func configuredName(in environment: CommandEnvironment) -> String? {
      // Reading a plan takes long; errors in it are reported later.
      guard !environment.configuration.cacheNames.isEmpty,
        let cache = cache.cache ?? (try? read(in: environment).path)
      else { return nil }
      return environment.places.name(of: cache)
    }

    func workedPath(in environment: CommandEnvironment) throws -> String? {
      if cache.cache != nil { return try cache.path(in: environment) }
      // Only root works on the caches of others.
      guard CurrentProcess.isRoot, environment.isolation != nil else { return nil }
      return try read(in: environment).path
    }

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }
    var isConfirmed: Bool { change.yes }
    var recording: RecordOptions { change.recording }
    var newFiles: [NewFileOption] { backingUp.newFiles }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      change.fill(from: settings)
      securing.fill(from: settings)
    }

    func validate() throws {
      // Standard input contains the plan, so it cannot contain the answer to the question.
      if file == "-", !change.yes, !change.dryRun {
        throw ValidationError("A plan from standard input needs '--yes' or '--dry-run'.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let saved = try read(in: environment)
      try change.finishIntents(
        of: cache, at: cache.cache == nil ? saved.path : nil, in: environment)
      var securing = securing
      // The plan was made to be carried out this way.
      if saved.isSecure { securing.secure = .secure }
      let (plan, skipped) = try plan(from: saved, in: environment)
      var renderer = RemovalRenderer(
        verb: "apply", isDryRun: change.dryRun, secrets: secrets.policy)
      renderer.listsOrphans = !saved.orphans.isEmpty || securing.isOn
      securing.prepare(&renderer, for: plan, in: environment)
      guard try change.allow(plan, renderer, in: environment) else {
        environment.note("nothing was removed")
        return .done
      }
      var execution = PlanExecution(cache: cache, change: change, environment: environment)
      execution.secure = securing.removal(
        of: cache, by: change, backup: plan.entries.isEmpty ? nil : backingUp.backup,
        in: environment)
      // An empty plan opens no cache for writing: nothing could go wrong, and nothing has to be
      // locked.
      if change.dryRun || plan.isEmpty && execution.secure == nil {
        try execution.preview(plan, skipped: skipped, renderer)
        return skipped == 0 ? .done : .partly
      }
      try backingUp.backUp(plan, of: planned(by: saved), in: environment)
      let isComplete = try execution.run(plan, skipped: skipped, renderer)
      // Somebody looked at this plan, so what differs from it must not pass as success.
      return isComplete && skipped == 0 ? .done : .partly
    }

    private func read(in environment: CommandEnvironment) throws -> SavedPlan {
      let name = file == "-" ? "standard input" : "'\(file)'"
      do {
        if file == "-" {
          let bytes = try environment.inputs.text(of: file, upTo: Self.largestPlan)
          // Standard input is kept in memory, and something has to end that.
          guard bytes.count <= Self.largestPlan else {
            throw JSONError("the plan is too large", at: bytes.count)
          }
          var json = JSONReader(bytes)
          return try SavedPlan(reading: &json)
        }
        if environment.job != nil || (try? FileStatus.of(file))?.kind != .regular {
          // It belongs to who has started this process, or is a pipe, which can be read only once.
          var json = JSONReader(try environment.inputs.text(of: file, upTo: Self.largestPlan))
          return try SavedPlan(reading: &json)
        }
        let file = try OpenFile(readingInput: file)
        // Read the file in pieces, because a plan may have a million entries.
        var json = JSONReader { _ in
          var buffer = [UInt8](repeating: 0, count: 1 << 16)
          let count = try file.read(into: &buffer)
          buffer.removeLast(buffer.count - count)
          return buffer
        }
        return try SavedPlan(reading: &json)
      } catch let error as JSONError {
        throw CommandFailure(
          .data, kind: "not-a-plan", "\(name) is not a plan: \(error)",
          hint: "create one with 'urlcache-admin purge --older-than 30d --plan FILE'", path: file)
      }
    }

    /// Returns the cache that the options name, or else the one that the plan was made for.
    private func planned(by saved: SavedPlan) -> CacheOptions {
      var cache = cache
      cache.cache = cache.cache ?? saved.path
      return cache
    }

    /// Creates a plan from the entries of a saved plan that have not changed.
    ///
    /// - Returns: The plan, and the number of changed entries.
    private func plan(
      from saved: SavedPlan, in environment: CommandEnvironment
    ) throws -> (RemovalPlan, skipped: Int) {
      let cache = planned(by: saved)
      let source = try cache.openForPlanning(in: environment)
      let store = source.description
      // Another cache may have taken the place of the one that the plan was made for.
      // The ids in a plan are row numbers, which mean other entries in another cache.
      guard store.format == saved.format,
        self.cache.cache != nil || store.identity == saved.identity
      else {
        throw CommandFailure(
          .data, kind: "another-cache",
          "'\(store.path)' is not the cache that the plan was made for",
          hint: "make a new plan, or name this cache with '-c PATH'", path: store.path)
      }
      // Pins of today hold for plans of yesterday: a user who pins a URL does not think of plans
      // that are waiting.
      let plan = try RemovalPlan(
        applying: saved, to: source, keeping: pinning.pins(of: cache, in: environment))
      try source.finish()
      environment.note(leftBy: plan, "kept")
      let pinned = Int(clamping: plan.kept[.pinned]?.entries ?? 0)
      return (plan, saved.entries.count - plan.entries.count - pinned)
    }
  }
}
