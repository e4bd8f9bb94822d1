import Administration
import ArgumentParser
import Bytes
import Files
import Querying
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin export`: writes entries to an archive.
  struct Export: SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Export entries to an archive, for 'import' or other programs.",
      usage: "urlcache-admin export [<options>] [<cache>] [<entries> ...] -o <file>",
      discussion: """
        A native archive (tar, zip) contains all columns, property lists and bodies
        unchanged, including cookies and tokens, with SHA-256 digests of everything.
        You can read it with 'tar', 'jq' and 'sha256sum -c SHA256SUMS'. A HAR (for
        browser developer tools) and a web archive (WARC 1.1 or WACZ, for pywb,
        ReplayWeb.page and others) contain requests and responses, without credentials
        unless you give '--with-credentials'. In every format, '--redact' removes what
        'list' masks: secrets in URLs become 'REDACTED-1', 'REDACTED-2' and so on,
        with the same number for the same secret. Notes list what may remain. The same
        entries always produce the same archive; compressed archives also depend on
        the version of the compression library. '--archive-format files' writes bodies
        to a new or empty folder, with a list of them in 'index.json'. If the name
        ends in '.sqlite', 'export' writes the tables of 'query' to an ordinary SQLite
        database.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Option(
      name: [.short, .long, .customLong("to")],
      help: ArgumentHelp(
        "The new archive; '-' is standard output.", valueName: "file"),
      completion: .file(extensions: ExportFormat.extensions { _ in true }))
    var output: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var archive: ArchiveOptions

    @OptionGroup var redaction: RedactionOptions

    @Option(help: "The bodies to include: all, none (default: all).")
    var bodies: ExportedBodies?

    var outputs: [String] { [output] }
    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let format = try format(in: environment)
      guard !redaction.redactBodies || format != .files else {
        throw CommandFailure.usage(
          "'--format files' and '--redact-bodies' cannot be combined")
      }
      if format == .sqlite { return try writeDatabase(in: environment) }
      let source = try cache.open(in: environment)
      // With `--force`, the archive would replace the database that it is being made of.
      try source.refuseReplacement(by: output)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      var export = ArchiveExport(
        format, generatorVersion: URLCacheAdmin.versionNumber)
      (export.level, export.threads) = (archive.level, archive.threads ?? 1)
      if let longest = archive.maxBody { export.longestBody = longest }
      export.isSelection = !selection.isEmpty
      if bodies == ExportedBodies.none || redaction.redactBodies { export.bodies = .none }
      export.credentials = redaction.filter(isNative: format.isNative)
      // Not the time of the export, as equal entries shall give equal bytes. SOURCE_DATE_EPOCH is
      // the convention of reproducible builds.
      export.created =
        try archive.time(in: environment)
        ?? environment.showingProgress("Reading times", over: source) {
          try newest(source, selection, now)
        }
      var absent = selection.names ?? EntryNames()
      let summary = try environment.showingProgress("Exporting entries", over: source) {
        try write(export, source, selection.projection, environment) { response in
          absent.remove(response)
          return try selection.contains(response, now: now)
        }
      }
      // After names without an entry, the error says enough about an empty archive.
      if summary.entries > 0 || absent.isEmpty {
        report(summary, of: export, in: environment)
        if format.isNative, output != "-" {
          environment.suggest("list its entries with", ["list", "-c", output])
        }
      }
      guard absent.isEmpty else { return environment.report(absent: absent, SecretPolicy()) }
      return summary.omissions.isEmpty ? .done : .partly
    }

    /// Writes a file or a folder, which appears complete or not at all.
    private func write(
      _ export: ArchiveExport, _ source: any ResponseSource, _ projection: Projection,
      _ environment: CommandEnvironment,
      where isWanted: (borrowing StoredResponse) throws -> Bool
    ) throws -> ArchiveExport.Summary {
      if export.format == .files {
        let folder = try FolderOutput(path: output, environment)
        let summary = try export.run(on: source, projection, where: isWanted, into: folder)
        try source.finish()
        try folder.commit()
        return summary
      }
      // Before the first entry is read, so that a name that is taken is reported at once.
      let target = try ArchiveOutput(path: output, isForced: force, environment)
      let summary = try export.run(on: source, projection, where: isWanted) {
        try target.write($0)
      }
      try source.finish()
      // After `finish`, which fails if the cache changed while it was read. An archive that mixes
      // two states must not appear.
      try target.commit()
      return summary
    }

    /// Returns the latest time at which a selected entry was first stored.
    private func newest(
      _ source: any ResponseSource, _ selection: Selection, _ now: Timestamp
    ) throws -> Timestamp? {
      var newest: Timestamp?
      try source.scan(selection.projection.union(.firstStored)) { response in
        guard let time = response.firstStored, newest.map({ time > $0 }) ?? true,
          try selection.contains(response, now: now)
        else { return .next }
        newest = time
        return .next
      }
      return newest
    }

    private func report(
      _ summary: ArchiveExport.Summary, of export: ArchiveExport,
      in environment: CommandEnvironment
    ) {
      let name = output == "-" ? "the archive" : "'\(output)'"
      environment.note(
        "exported \(QuantityWords.counted(summary.entries, "entry", "entries")) to \(name), with "
          + "\(ByteSizeText.text(summary.bodyBytes)) of bodies, "
          + (export.credentials == nil
            ? "including cookies and tokens" : "without cookies or credentials"))
      if let tally = summary.redaction {
        environment.note(keptTokens: tally.keptTokens)
        let bodies = export.bodies == .none ? 0 : summary.entries - summary.missingBodies
        if redaction.redactsAll { environment.note(tally, bodies: bodies) }
      }
      if let losses = export.format.losses { environment.note("the format cannot store \(losses)") }
      if summary.missingBodies > 0 {
        environment.note(
          "entries whose body is missing from the cache: \(summary.missingBodies)")
      }
      environment.report(gapsIn: summary)
    }
  }
}

/// The bodies that an export contains.
enum ExportedBodies: String, CaseIterable, ExpressibleByArgument {
  case all, none
}

extension CommandEnvironment {
  /// Reports what an archive leaves out, and which fields are synthesized.
  func report(gapsIn summary: ArchiveExport.Summary) {
    for omission in summary.omissions {
      note(omission.words("was skipped", "were skipped"))
    }
    for (fact, count) in summary.synthesizedFields.sorted(by: { $0.key < $1.key }) {
      note("synthesized for \(QuantityWords.counted(count, "entry", "entries")): \(fact)")
    }
  }
}

extension URLCacheAdmin.Export {
  /// Writes the tables of `query` as an ordinary database, for other programs.
  func writeDatabase(in environment: CommandEnvironment) throws -> ExitStatus {
    guard !redaction.redactsAll else {
      throw CommandFailure.usage(
        "'--redact' and a database cannot be combined",
        hint: "export an archive with '--redact', then export the database from that archive")
    }
    if let option = unusedOption {
      throw CommandFailure.usage(
        "'\(option)' and a database cannot be combined",
        hint: "a database has no bodies and is not compressed")
    }
    let source = try cache.open(in: environment)
    try source.refuseReplacement(by: output)
    let now = cache.now(in: environment)
    let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
    // Before the first entry is read, so that a name that is taken is reported at once.
    let target = try ArchiveOutput(path: output, isForced: force, environment)
    let reader = ColumnReader(
      secrets: SecretPolicy(showSecrets: redaction.withCredentials),
      context: EntryContext(now: now, expiryRules: selection.expiryRules))
    var listing = Listing(selection: selection, now: now)
    do {
      var database = try EntryDatabase(
        reader: reader,
        check: EntryCheck(now: now, clock: environment.now))
      // This throws if a signal has come, which is held back while temporary files exist.
      try listing.fill(&database, from: source) { try target.write([]) }
      try source.finish()
      try database.write { try target.write($0) }
    } catch let error as QueryError { throw CommandFailure(error) }
    try target.commit()
    let name = output == "-" ? "a database" : "'\(output)'"
    environment.note(
      "wrote the tables of \(QuantityWords.counted(listing.shown, "entry", "entries")) to \(name),"
        + (redaction.withCredentials
          ? " including cookies and tokens" : " without the values of secret header fields"))
    return listing.report(in: environment, SecretPolicy())
  }

  /// An option that was given and has no meaning for a database.
  private var unusedOption: String? {
    if archive.maxBody != nil { return "--max-body" }
    if bodies != nil { return "--bodies" }
    if archive.threads != nil { return "--threads" }
    return archive.created != nil ? "--created" : nil
  }
}

/// Names of new files that show what was meant, but not the format of an archive.
extension URLCacheAdmin.Export {
  /// Returns the format of the new archive.
  ///
  /// - Throws: ``CommandFailure`` if it is unknown, with the command that writes such a file.
  func format(in environment: CommandEnvironment) throws(CommandFailure) -> ExportFormat {
    do throws(CommandFailure) { return try archive.format(for: output) } catch {
      var failure = error
      failure.hint = hint(in: environment) ?? error.hint
      throw failure
    }
  }

  /// Returns the hint for the name of the new file; `nil` if it has no clear meaning.
  private func hint(in environment: CommandEnvironment) -> String? {
    guard archive.archiveFormat == nil else { return nil }
    let bytes = output.utf8
    if bytes.last == UInt8(ascii: "/") || (try? FileStatus.of(output))?.kind == .directory {
      let line = OptionHints.commandLine(environment.words, adding: ["--format", "files"])
      return "write the bodies as files to a new folder with: \(line)"
    }
    let ending = bytes.split(separator: UInt8(ascii: ".")).last.flatMap { String($0) } ?? ""
    switch ending {
    case "json", "ndjson", "jsonl", "csv", "tsv":
      guard var words = wordsWithoutOutput(environment.words) else { return nil }
      words[0] = "list"
      let line = OptionHints.commandLine(words, adding: ["--format", ending])
      return "write the list of the entries with: \(line) > \(OptionHints.shellWord(output))"
    case "db":
      guard let cache = cache.cache else { return nil }
      let isInFolder = bytes.reversed().starts(with: "/Cache.db".utf8.reversed())
      let folder = String(bytes.dropLast(isInFolder ? "/Cache.db".utf8.count : ".db".utf8.count))
      return folder.map {
        "create a cache with: " + OptionHints.commandLine(["import", cache, "-c", $0])
      }
    default: return nil
    }
  }

  /// Returns the words of the command line without the name of the new file.
  private func wordsWithoutOutput(_ words: [String]) -> [String]? {
    guard let index = words.lastIndex(of: output), index > 1,
      ["-o", "--output", "--to"].contains(words[index - 1])
    else { return nil }
    return Array(words[..<(index - 1)] + words[(index + 1)...])
  }
}

extension CommandEnvironment {
  /// Reports that URLs in an archive without credentials still contain tokens.
  func note(keptTokens count: Int64) {
    // Which of them are secrets only their servers know, so this is a note and no default.
    guard count > 0 else { return }
    note(
      "the URLs of \(Self.entries(count)) contain values that look like tokens; "
        + "use '--redact' to leave them out")
  }

  /// Reports which secrets were left out of an archive, and where others may remain.
  ///
  /// - Parameter bodies: The number of response bodies in the archive.
  func note(_ tally: Redaction.Tally, bodies: Int64) {
    let places = [
      (tally.headers, "header fields"), (tally.urls, "URLs"),
      (tally.requestBodies, "request bodies"), (tally.attachments, "attached properties"),
    ].filter { $0.0 > 0 }.map { "\($0.1) of \(Self.entries($0.0))" }
    note(
      places.isEmpty
        ? "found no secrets to leave out"
        : "left out secrets: " + places.joined(separator: ", "))
    if tally.replacements > 0 {
      note(
        "distinct secrets in URLs: \(tally.replacements), each replaced with a numbered 'REDACTED'")
    }
    // A note and no check: what is a secret in the body of a response only the app knows.
    if bodies > 0 {
      note(
        "bodies are unchanged and may contain secrets: \(bodies) "
          + "(use '--redact-bodies' to leave them out)")
    }
    if !tally.keptNames.isEmpty { note(Self.kept(tally.keptNames)) }
  }

  private static func entries(_ count: Int64) -> String {
    QuantityWords.counted(count, "entry", "entries")
  }

  /// Returns a note with the first parameters whose values are in the archive, in alphabetical order.
  private static func kept(_ names: Set<ByteString>) -> String {
    // Names of parameters come from servers, and can be anything and in any number.
    let first = names.sorted().prefix(20).map { "'\(HostileText.shown($0).string ?? "")'" }
    let count =
      names.count < Redaction.Tally.mostNames ? "\(names.count)" : "\(names.count) or more"
    return "other query parameters are unchanged and may contain secrets: \(count) "
      + "(\(first.joined(separator: ", "))\(names.count > 20 ? ", …" : "")); "
      + "use '--redact-query NAME' to leave them out"
  }
}
