import Administration
import Querying
import Rendering
import ResponseArchives
import ResponseStorage

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
      secrets: SecretPolicy(showSecrets: redaction.withCredentials), now: now,
      expiryRules: selection.expiryRules)
    var listing = Listing(selection: selection, now: now)
    do {
      var database = try EntryDatabase(
        in: environment.temporaryFolder, reader: reader,
        check: EntryCheck(now: now, clock: environment.now))
      // This throws if a signal has come, which is held back while temporary files exist.
      try listing.fill(&database, from: source) { try target.write([]) }
      try source.finish()
      try database.write { try target.write($0) }
    } catch let error as QueryError { throw CommandFailure(error) }
    try target.commit()
    let name = output == "-" ? "a database" : "'\(output)'"
    environment.note(
      "wrote the tables of \(listing.shown) \(listing.shown == 1 ? "entry" : "entries") to \(name),"
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
