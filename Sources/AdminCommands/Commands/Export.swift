import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin export`: writes entries to an archive.
  struct Export: SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Write entries to an archive, for 'import' and for other programs.",
      usage: "urlcache-admin export [<options>] [<cache>] [<entries> ...] -o <file>",
      discussion: """
        A native archive (tar, zip) holds all columns, property lists and bodies as
        they are, with cookies and tokens, and SHA-256 digests of everything: 'tar',
        'jq' and 'sha256sum -c SHA256SUMS' read it. A HAR (for the developer tools of
        browsers) and a web archive (WARC 1.1 or WACZ, for pywb, ReplayWeb.page and
        others) hold requests and responses, without credentials unless
        '--with-credentials' keeps them. '--redact' leaves out of each format all that
        'list' masks: a secret in a URL becomes 'REDACTED-1', 'REDACTED-2' and so on,
        the same secret always the same number. Notes say what may remain.
        The same entries give the same bytes.
        '--archive-format files' writes bodies into a folder that is new or empty, with
        a list of them, 'index.json'.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions

    @Option(
      name: [.short, .long],
      help: ArgumentHelp(
        "The archive, which must not exist yet; '-' is the output.", valueName: "file"),
      completion: .file(extensions: ExportFormat.extensions { _ in true }))
    var output: String

    @Flag(help: "Replace a file that exists.")
    var force = false

    @OptionGroup var archive: ArchiveOptions

    @OptionGroup var redaction: RedactionOptions

    @Option(help: "Which bodies to write: all, none.")
    var bodies = ExportedBodies.all

    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let format = try archive.format(for: output)
      guard !redaction.redactBodies || format != .files else {
        throw CommandFailure.usage(
          "'--archive-format files' writes bodies, and '--redact-bodies' none")
      }
      let source = try cache.open(in: environment)
      // With `--force`, the archive would replace the database that it is being made of.
      try source.refuseReplacement(by: output)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      var export = ArchiveExport(
        format, generatorVersion: URLCacheAdmin.versionNumber,
        temporaryFolder: environment.temporaryFolder)
      (export.level, export.threads) = (archive.level, archive.threads)
      export.longestBody = archive.maxBody
      export.isSelection = !selection.isEmpty
      export.omitsBodies = bodies == .none || redaction.redactBodies
      export.credentials = redaction.filter(isNative: format.isNative)
      // Not the time of the export, as equal entries shall give equal bytes. SOURCE_DATE_EPOCH is
      // the convention of reproducible builds.
      export.created = try archive.time(in: environment) ?? newest(source, selection, now)
      var absent = selection.names ?? EntryNames()
      let summary = try write(export, source, selection.projection, environment) { response in
        absent.remove(response)
        return try selection.contains(response, now: now)
      }
      report(summary, of: export, in: environment)
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
        let folder = try FolderOutput(path: output)
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
        "\(name) holds \(summary.entries) \(summary.entries == 1 ? "entry" : "entries") with "
          + "\(ByteSizeText.text(summary.bodyBytes)) of bodies, "
          + (export.credentials == nil
            ? "and cookies and tokens as they are" : "without cookies and credentials"))
      if let tally = summary.redaction {
        environment.note(keptTokens: tally.keptTokens)
        let bodies = export.omitsBodies ? 0 : summary.entries - summary.missingBodies
        if redaction.redactsAll { environment.note(tally, bodies: bodies) }
      }
      if let losses = export.format.losses { environment.note("it does not hold \(losses)") }
      if summary.missingBodies > 0 {
        environment.note("entries whose body is missing in the cache: \(summary.missingBodies)")
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
      let count = omission.count
      note("\(count) \(count == 1 ? "entry is" : "entries are") left out: \(omission.reason)")
    }
    for (fact, count) in summary.synthesizedFields.sorted(by: { $0.key < $1.key }) {
      note("made up for \(count) \(count == 1 ? "entry" : "entries"): \(fact)")
    }
  }

  /// The folder for private files.
  var temporaryFolder: String {
    variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }
}
