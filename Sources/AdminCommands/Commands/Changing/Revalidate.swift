import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage
import Revalidation

extension URLCacheAdmin {
  /// `urlcache-admin revalidate`: validates entries with their origin servers.
  struct Revalidate: AllCachesCommand, SelectingCommand, RecordedCommand {
    static let configuration = CommandConfiguration(
      commandName: "revalidate",
      abstract: "Ask the servers whether entries are still valid, and refresh them on request.",
      discussion: """
        Sends the request that 'explain' shows, adding only the header field Host, and
        reports each entry as unchanged, incomplete, changed, rolled-back, gone,
        redirected, no-validator, needs-credentials, not-asked or failed. Without
        '--refresh' or '--purge-…' nothing is changed, and no body is downloaded.
        '--dry-run' also sends the requests, because only the responses show what
        would change.

        An entry that was stored with credentials (a Cookie, Authorization or
        X-Api-Key field, or a user name in the URL) is requested only with
        '--with-credentials'. Without credentials, a server may answer with 404 or a
        login page even if nothing has changed. Such an entry is reported as
        needs-credentials and left alone.

        '--refresh' sends an unconditional request if there is no validator, and
        repeats the request without conditions if a 304 cannot belong to the stored
        entry. It keeps the stored entry if the response may be a different variant,
        because a field named in Vary is unknown or was not sent.

        '--resume' completes entries that contain only the beginning of a body. It
        appends the rest only if a strong validator, Content-Range, the length and any
        digest show that it belongs to the same body; otherwise it requests the full
        response.

        Only http and https URLs are requested, with GET and HEAD. Addresses of this
        machine and of private networks are refused unless the URL contains them.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Requests") var asking: ValidationOptions
    @OptionGroup(title: "Changes") var change: ChangeOptions
    @OptionGroup(title: "Changes") var backingUp: BackupOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Flag(help: "Check all entries that match the other options.")
    var all = false

    @Flag(
      help:
        "Refresh entries that the server confirms (304), and replace entries that changed (200).")
    var refresh = false

    @Flag(help: "With '--refresh', download only the rest of incomplete bodies.")
    var resume = false

    @Flag(help: "With '--refresh', also replace a body by an empty one.")
    var allowEmpty = false

    @Flag(help: "Remove entries that have changed on the server.")
    var purgeChanged = false

    @Flag(help: "Remove entries whose URL no longer exists on the server.")
    var purgeGone = false

    var writesJSON: Bool { change.format == .json }
    var isDryRun: Bool { change.dryRun }
    var isConfirmed: Bool { change.yes }
    var recording: RecordOptions { change.recording }
    var outputPurpose: OutputPurpose { changes.isNothing || isDryRun ? .answer : .receipt }
    var expiryRules: [UserInfoExpiry.Rule] { selection.expiry.rules }
    var newFiles: [NewFileOption] { backingUp.newFiles }

    mutating func fill(from settings: CacheSettings) {
      cache.fill(from: settings)
      change.fill(from: settings)
    }

    func validate() throws {
      guard !refresh || asking.httpMethod != .head else {
        throw ValidationError("'--refresh' needs bodies, which '--http-method head' does not get.")
      }
      // Servers that do not support HEAD may answer it with 404 or another tag.
      guard !(purgeChanged || purgeGone) || asking.httpMethod != .head else {
        throw ValidationError(
          "'--http-method head' cannot be combined with options that remove entries.")
      }
      guard refresh || !resume else {
        throw ValidationError("'--resume' needs '--refresh'.")
      }
      guard !refresh || !purgeChanged else {
        throw ValidationError("'--refresh' and '--purge-changed' cannot be combined.")
      }
      guard backingUp.backup == nil || !changes.isNothing else {
        throw ValidationError("'--backup' needs '--refresh', '--purge-changed' or '--purge-gone'.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      // Do not send requests whose results could not be confirmed.
      if !changes.isNothing, !change.dryRun, !change.yes {
        try Confirmation.change.requireTerminal(in: environment)
      }
      // Without a refresh, not even a place for bodies is made: a check must load none.
      let spool = refresh ? try BodySpool() : nil
      let (requests, asked) = try requests(resuming: resume ? spool : nil, in: environment)
      if !changes.isNothing { try change.finishIntents(of: cache, in: environment) }
      // Always kept, as there is no `--include-pinned` here: what a server answers in one minute is
      // no reason to lose what a user wants to keep.
      let pins = try cache.pins(in: environment)
      let plan = try RevalidationPlan(making: changes) { request in
        var response = StoredResponse(id: request.version.id)
        (response.url, response.key) = (request.url, request.version.key)
        return pins.contains(response)
      }
      try ask(requests, for: plan, spool, environment)
      try plan.finish()
      let renderer = RevalidationRenderer(isDryRun: change.dryRun, secrets: secrets.policy)
      guard plan.changedCount > 0, !change.dryRun else {
        let status = try finish(plan, of: asked, renderer, environment)
        try checkLimit(of: plan, asked.storedEntries)
        return status
      }
      guard try allow(plan, renderer, of: asked.storedEntries, environment) else {
        environment.note("nothing was changed")
        return .done
      }
      var versions = try plan.makeVersionReader()
      let isRefreshing = plan.changedCount > plan.count(.remove)
      try backingUp.backUp(before: isRefreshing ? .change : .removal, of: cache, in: environment) {
        try versions.next()
      }
      // Hold signals, so that one ends the process only after the current batch and the receipt.
      environment.record.holdSignals()
      let signals = HeldSignals()
      let failure = try RevalidationExecution(
        plan: plan, spool: spool, path: asked.store.path, cache: cache, change: change,
        environment: environment
      ).run { signals.haveCome }
      let status = try finish(plan, of: asked, renderer, environment)
      // The results come first: some entries were changed before the failure.
      if let failure { throw failure }
      return status
    }

    /// Writes the results, and returns the exit status.
    private func finish(
      _ plan: RevalidationPlan, of asked: Asked, _ renderer: RevalidationRenderer,
      _ environment: CommandEnvironment
    ) throws -> ExitStatus {
      try write(plan, of: asked.store, renderer, environment)
      let absence = environment.report(absent: asked.absent, secrets.policy)
      if plan.withheldCount > 0 {
        let words = OptionHints.commandLine(environment.words, adding: ["--with-credentials"])
        environment.hint("to send the credentials that entries were stored with: \(words)")
      }
      let status = status(of: plan)
      return status == .done ? absence : status
    }

    private var changes: RevalidationPlan.Changes {
      var changes = RevalidationPlan.Changes()
      changes.refreshes = refresh
      changes.allowsEmpty = allowEmpty
      changes.removesChanged = purgeChanged
      changes.removesGone = purgeGone
      return changes
    }

    /// Creates the requests, and closes the cache.
    ///
    /// - Parameter spool: The spool for stored beginnings of bodies whose rest is requested; `nil` to copy none.
    private func requests(
      resuming spool: BodySpool?, in environment: CommandEnvironment
    ) throws -> (ValidationRequests, Asked) {
      let source =
        try changes.isNothing
        ? cache.open(in: environment) : cache.openForPlanning(in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      guard all || !selection.isEmpty else {
        throw CommandFailure.usage(
          "no entries selected", hint: "give URLs or ids, options such as '--stale', or '--all'")
      }
      let rules = asking.rules(wantsBodies: refresh)
      var listing = Listing(selection: selection, now: now)
      let requests = try ValidationRequests()
      let projection = selection.projection.union(ValidationRequest.projection).union(.storage)
      try listing.scan(source, projection) { response in
        // The list of what a page loaded came from no server.
        guard response.isResponse else { return }
        try requests.append(ValidationRequest(for: response, by: rules))
      }
      if let spool { try requests.keepStarts(from: source, in: spool) }
      // For the share that `--max-delete` may be.
      let count = try source.count()
      try source.finish()
      if requests.count == 0, listing.absent.isEmpty { environment.note("no entries selected") }
      let asked = Asked(
        store: source.description, storedEntries: count, absent: listing.absent)
      return (requests, asked)
    }

    /// Asks the servers, and decides what happens to each entry.
    private func ask(
      _ requests: ValidationRequests, for plan: RevalidationPlan, _ spool: BodySpool?,
      _ environment: CommandEnvironment
    ) throws {
      // Origins can take minutes, in which a command without a sign of life looks as if it hung.
      let revalidator = Revalidator(
        schedule: asking.schedule, spool: spool, wallClock: environment.secondsNow,
        steadyClock: environment.steadyMilliseconds
      ) { WorkCounter.add(1) }
      func run(over transport: any Transport) throws {
        try revalidator.run(requests, over: transport) { number, result in
          try plan.insert(result, at: number)
        }
      }
      // Do not start the fetch program if there is nothing to send.
      guard requests.sentCount > 0 else { return try run(over: NoTransport()) }
      try environment.showingProgress("Asking servers", of: requests.sentCount, unit: "responses") {
        try run(over: environment.openTransport())
      }
    }

    /// Asks the user to confirm a plan.
    private func allow(
      _ plan: RevalidationPlan, _ renderer: RevalidationRenderer, of stored: Int64,
      _ environment: CommandEnvironment
    ) throws -> Bool {
      // Check the cap before asking: the answer could not override it.
      try checkLimit(of: plan, stored)
      if change.yes { return true }
      let count = QuantityWords.counted(plan.changedCount, "entry", "entries")
      return try Confirmation.change.ask(
        about: "\(count) in \(Confirmation.title(ofCacheAt: cache.path(in: environment)))",
        in: environment,
        writing: { text, flush in
          var preview = renderer
          preview.isDryRun = true
          try preview.appendText(plan, into: &text, flush)
        })
    }

    /// Throws if a plan exceeds the cap on removals.
    private func checkLimit(
      of plan: RevalidationPlan, _ stored: Int64
    ) throws(CommandFailure) {
      let removals = plan.count(.remove)
      guard let cap = change.maxDelete, cap.isExceeded(by: Int(removals), of: stored) else {
        return
      }
      throw change.tooMany("\(removals) of \(stored) entries")
    }

    private func write(
      _ plan: RevalidationPlan, of store: StoreDescription, _ renderer: RevalidationRenderer,
      _ environment: CommandEnvironment
    ) throws {
      // Without a change, the answers of the servers are what was asked for.
      let isDone = (refresh || purgeChanged || purgeGone) && status(of: plan) == .done
      if environment.leavesOutReceipt(as: change.format, isDryRun: isDryRun, isDone) { return }
      var output = OutputBuffer(environment)
      let flush = environment.flushIfLarge
      switch change.format {
      case .table: try renderer.appendText(plan, into: &output.text, flush)
      case .json: try renderer.appendJSON(plan, of: store, into: &output.text, flush)
      }
      try output.flush()
    }

    private func status(of plan: RevalidationPlan) -> ExitStatus {
      let failures =
        plan.count(.failed) + plan.count(.notAsked)
        + plan.count(.needsCredentials) + plan.hinderedCount
      if failures + plan.skippedCount > 0 { return .partly }
      let isLeft = plan.outdatedCount > 0 || change.dryRun && plan.count(.remove) > 0
      return isLeft ? .no : .done
    }
  }
}

/// The cache that requests are about.
private struct Asked {
  var store: StoreDescription
  /// The number of all entries of the cache.
  var storedEntries: Int64
  /// The requested names that no entry has.
  var absent: EntryNames
}
