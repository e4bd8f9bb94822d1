import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin import`: imports entries of an archive into a cache.
  struct Import: ConfiguredCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Import entries from an archive, even while an app is using the cache.",
      discussion: """
        The archive is a file written by 'export' or '--backup', a HAR, WARC or WACZ
        from any program, another cache, or '-' for standard input. In a cache of the
        same kind, a native archive or a cache is restored completely. In a HAR, WARC
        or WACZ, 'import' skips responses that URLCache would never use, and counts
        them.

        An existing cache needs no '-c': 'import ARCHIVE CACHE' and
        'import CACHE ARCHIVE' mean 'import ARCHIVE -c CACHE'.

        If there is no cache at the path given with '-c', 'import' creates one: a
        Foundation cache if the archive comes from one, otherwise an Apple cache.

        The archive is read and verified before anything is written. An Apple cache
        gets either all entries or none; a Foundation cache gets them one by one. A
        running app sees them at its next request, unless it has older responses in
        memory. The summary lists what a Foundation cache cannot store.
        """)

    @Argument(
      help: "The archive, or another cache; '-' is standard input.", completion: .file())
    var file: String

    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup var importing: ImportOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Flag(name: [.customShort("n"), .long], help: "Show what would be imported; change nothing.")
    var dryRun = false

    @Flag(name: [.customShort("y"), .long], help: "Do not ask before replacing entries.")
    var yes = false

    @OptionGroup var backingUp: BackupOptions

    @OptionGroup(title: "Output") var formats: FormatOptions<ChangeFormat>

    var format: ChangeFormat { formats.format }
    var inputs: [String] { selection.urlFile + [file] }
    var writesJSON: Bool { format == .json }
    var newFiles: [NewFileOption] { backingUp.newFiles }
    var outputPurpose: OutputPurpose { dryRun ? .answer : .receipt }

    func validate() throws {
      guard file != "-" || !selection.urlFile.contains("-") else {
        throw ValidationError(
          "The archive and '--url-file' cannot both be standard input.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      try requireCache(in: environment)
      let archive = try openArchive(in: environment)
      for note in archive.description.notes { environment.note(note) }
      environment.note(lacksOf: archive)
      if importing.strict, let record = archive.damagedRecords.first {
        throw ResponseArchiveError(.damaged, at: archive.description.path, record.description)
      }
      let named = try ImportDestination(of: archive, cache, importing, in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: archive, in: environment)
      if !dryRun {
        environment.finishIntents(at: named.path, waiting: cache.waitMilliseconds)
      }
      let plan = try plan(of: selection, at: now, from: archive, into: named, in: environment)
      if let damage = plan.damage {
        environment.note("importing only the entries before the damage: \(damage)")
      }
      let destination = named.created(by: plan, from: archive)
      let changes = plan.changesAnything || destination.new != nil
      // A question about nothing would only stop scripts that have no terminal.
      guard try dryRun || !changes || allow(plan, destination, in: environment) else {
        environment.note("nothing was imported")
        return .done
      }
      var result = ImportResult()
      if !dryRun, changes {
        if plan.count(.replace) > 0 {
          var replaced = try plan.makeReplacedReader()
          try backingUp.backUp(before: .change, of: cache, in: environment) {
            try replaced.next()
          }
        }
        result = try carryOut(plan, from: archive, into: destination, in: environment)
      }
      // If the archive changed while it was read, the command has failed. What was imported is imported all the same.
      var failure: (any Error)?
      do { try archive.finish() } catch { failure = error }
      if let failure, dryRun || !changes { throw failure }
      try write(plan, result, destination, in: environment)
      if let failure { throw failure }
      if plan.count(.otherMethod) > 0, !dryRun, file != "-", selection.isEmpty {
        let words = importing.wordsAdding(archive, to: destination.path) + ["--any-method"]
        environment.hint(
          "import entries with other methods, too, with: \(OptionHints.commandLine(words))")
      }
      if named.new != nil, destination.new == nil {
        environment.note("no cache was created, because there is nothing to import")
      } else if dryRun {
        environment.suggestRunning()
      } else if format == .table {
        environment.suggest("list the entries with", ["list", "-c", destination.path])
      }
      guard plan.absent.isEmpty else {
        return environment.report(absent: plan.absent, secrets.policy)
      }
      return isComplete(plan, result) ? .done : .partly
    }

    /// Rejects an import without a cache, which no operand can name.
    private func requireCache(in environment: CommandEnvironment) throws(CommandFailure) {
      guard cache.cache == nil,
        environment.configuration.value(of: .cache, forCache: nil)?.text.isEmpty ?? true
      else { return }
      throw .usage(
        "no cache given to import into",
        hint: "write: "
          + OptionHints.commandLine(
            environment.words,
            adding: [
              "-c",
              environment.configuration.cacheNames.count == 1
                ? environment.configuration.cacheNames[0] : "CACHE",
            ]))
    }

    /// Whether all selected entries are in the cache.
    private func isComplete(_ plan: ImportPlan, _ result: ImportResult) -> Bool {
      plan.count(.reject) == 0 && plan.count(.otherMethod) == 0 && plan.count(.lostBody) == 0
        && plan.duplicates == 0 && result.changed == 0 && plan.damage == nil
        && !plan.omissions.contains(where: \.isPart)
    }

    /// Creates the plan, and closes the cache.
    private func plan(
      of selection: Selection, at now: Timestamp, from archive: any ResponseArchive,
      into destination: ImportDestination, in environment: CommandEnvironment
    ) throws -> ImportPlan {
      let source = try destination.open(cache, archive, in: environment)
      guard let target = source ?? destination.new as (any ResponseTarget)? else {
        throw StoreError(.notFound, at: destination.path)
      }
      do {
        let plan = try environment.showingProgress("Reading entries", of: nil) {
          try ImportPlan(
            importing: archive, selection, into: target, rule: importing.onConflict, now: now,
            anyMethod: importing.anyMethod,
            rewriting: importing.rewriting(at: environment.now), salvaging: importing.salvage)
        }
        try source?.finish()
        return plan
      } catch let conflict as ImportConflict {
        let url = conflict.url.map { HostileText.shown(secrets.policy.url($0, for: .people)) }
        let reason =
          conflict.isInArchive
          ? "in this cache, several entries from the archive would have the same key as"
          : "the cache already has a different entry for"
        throw CommandFailure(
          .no, kind: "conflict",
          "nothing was imported: \(reason) '\(url?.string ?? "-")'",
          hint: "use '--on-conflict skip', 'replace' or 'newer'", path: destination.path)
      }
    }

    /// Asks the user to confirm that entries of the cache are replaced.
    private func allow(
      _ plan: ImportPlan, _ destination: ImportDestination, in environment: CommandEnvironment
    ) throws(CommandFailure) -> Bool {
      let count = plan.count(.replace)
      // Entries that are only added take nothing away, so there is nothing to ask about.
      if yes || count == 0 { return true }
      return try Confirmation.replace(count).ask(
        about: "\(QuantityWords.counted(count, "entry", "entries")) in "
          + Confirmation.title(ofCacheAt: destination.path), in: environment
      ) { text in
        ImportRenderer(isDryRun: true, new: destination.new, secrets: secrets.policy)
          .appendText(plan, ImportResult(), into: &text)
      }
    }

    private func carryOut(
      _ plan: ImportPlan, from archive: any ResponseArchive, into destination: ImportDestination,
      in environment: CommandEnvironment
    ) throws -> ImportResult {
      // Hold signals, so that one ends the process only when nothing is half done.
      environment.record.holdSignals()
      let signals = HeldSignals()
      let path = destination.path
      var result = ImportResult()
      func fill(_ store: any ResponseStore) throws {
        do {
          result = try plan.carryOut(from: archive, in: store) { signals.haveCome }
        } catch is ImportInterruption {
          throw FileError.interrupted(at: path)
        }
      }
      try environment.showingProgress("Importing entries", of: plan.lastWritten) {
        if let new = destination.new {
          try environment.create(new, at: path, filledBy: fill)
        } else {
          try fill(environment.openStore(path, cache.waitMilliseconds, !importing.noVerify))
        }
      }
      return result
    }

    private func write(
      _ plan: ImportPlan, _ result: ImportResult, _ destination: ImportDestination,
      in environment: CommandEnvironment
    ) throws {
      var renderer = ImportRenderer(
        isDryRun: dryRun, new: destination.new, secrets: secrets.policy)
      var output = OutputBuffer(environment)
      switch format {
      case .table: renderer.appendText(plan, result, into: &output.text)
      case .json:
        renderer.beginJSON(plan, result, into: destination.description, into: &output.text)
        try plan.forEachEntry(after: result) { entry, isChanged in
          renderer.appendJSON(entry, isChanged: isChanged, into: &output.text)
          try output.flushIfLarge()
        }
        renderer.endJSON(into: &output.text)
      }
      // Quietly, success shows nothing; a dry run is only there to be read.
      if environment.leavesOutReceipt(as: format, isDryRun: dryRun, isComplete(plan, result)) {
        return
      }
      try output.flush()
    }
  }
}

extension URLCacheAdmin.Import {
  /// Opens the source of the import: an archive, standard input, or a cache.
  private func openArchive(in environment: CommandEnvironment) throws -> any ResponseArchive {
    // A file goes before a configured cache, which is no archive.
    let named = environment.configuration.path(ofCache: file)?.text
    let file = (try? FileStatus.of(file)) == nil ? named ?? file : file
    environment.record.paths.insert(file)
    let opening = ArchiveOpening(
      path: file, limits: importing.limits)
    if file == "-" { return try opening.openInput(reading: environment.readInputPiece) }
    // What only root can read, root reads.
    if let read = environment.readPieceOfInput, self.file == file,
      let error = FileAccess.errorOfReading(file), error.kind == .accessDenied
    {
      return try opening.openInput { try read(file, &$0) }
    }
    do {
      return try opening.open()
    } catch let error as ResponseArchiveError where error.kind == .notAnArchive {
      do {
        let cache = try environment.openSource(file, cache.waitMilliseconds, environment.now)
        return StoreArchive(cache.source, limits: importing.limits)
      } catch let other as StoreError where other.code == .notACache {
        // If the file is no cache either, the error about the archive is the better one.
        throw error
      }
    }
  }
}

extension CommandEnvironment {
  /// Creates an empty cache and fills it.
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
        "cannot create a cache at '\(path)': \(error.reason ?? "unknown error")",
        hint: "give a new or empty folder with '-c'", path: path)
    }
  }
}

extension URLCacheAdmin.Import {
  /// What an operand is.
  private enum Role {
    case archive, cache, missing
  }

  /// Takes the cache from the operands, before or after the archive, if only one of the two can be it.
  mutating func takeOperands(in environment: CommandEnvironment) throws {
    // A URL or an id is an entry, and what follows `--` is never the cache.
    guard cache.cache == nil, let word = selection.entries.first,
      selection.entries.count > environment.operandsAfterTerminator,
      (try? EntryNames.Name(written: word)) == nil
    else { return }
    switch (role(of: file, in: environment), role(of: word, in: environment)) {
    case (.archive, .cache), (.missing, .cache):
      cache.cache = word
    case (.cache, .archive),
      (.cache, .missing) where Self.looksLikeArchive(word):
      (cache.cache, file) = (file, word)
    case (.cache, .cache):
      throw CommandFailure.usage(
        "'\(printable(file))' and '\(printable(word))' are both caches",
        hint: "to add the entries of the first to the second: "
          + line(from: file, into: word, in: environment))
    case (.archive, .archive):
      throw CommandFailure.usage(
        "'\(printable(file))' and '\(printable(word))' are both archives",
        hint: "import one after the other: "
          + OptionHints.commandLine(["import", file, "-c", "CACHE"]))
    case (.missing, .archive),
      (.missing, .missing) where Self.looksLikeArchive(word):
      throw CommandFailure.usage(
        "there is no cache at '\(printable(file))'",
        hint: "to create it: \(line(from: word, into: file, in: environment))")
    case (.archive, .missing) where importing.create != nil,
      (.cache, .missing) where importing.create != nil:
      cache.cache = word
    case (.archive, .missing), (.cache, .missing), (.missing, .missing):
      throw CommandFailure.usage(
        "'\(printable(word))' is no cache, no URL and no id",
        hint: "to create a cache there: \(line(from: file, into: word, in: environment))")
    }
    selection.entries.removeFirst()
    if let cache = cache.cache {
      try environment.refuseTwoMeanings(of: cache) { _ in "-c \(cache)" }
    }
  }

  private func role(of word: String, in environment: CommandEnvironment) -> Role {
    if word == "-" { return .archive }
    let opening = ArchiveOpening(path: word)
    if (try? FileStatus.of(word)) != nil, opening.isArchive { return .archive }
    return environment.isKnownCache(word) ? .cache : .missing
  }

  private static func looksLikeArchive(_ word: String) -> Bool {
    ExportFormat(ofFileNamed: word) != nil
  }

  /// Returns the command line with the two operands in their places.
  private func line(
    from archive: String, into cache: String, in environment: CommandEnvironment
  ) -> String {
    var words = environment.words
    guard let first = words.indices.dropFirst().first(where: { words[$0] == file }),
      let second = words.indices.dropFirst(first + 1).first(where: {
        words[$0] == selection.entries[0]
      })
    else { return OptionHints.commandLine(["import", archive, "-c", cache]) }
    words[first] = archive
    words.replaceSubrange(second...second, with: ["-c", cache])
    return OptionHints.commandLine(words)
  }
}
