import Administration
import Auditing
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

/// The audit of a cache, and what it has written.
struct AuditRun {
  private let scan: AuditScan
  private let baseline: AuditBaseline?
  private let keepsBaseline: Bool
  private var renderer: AuditRenderer
  private var tally: AuditTally
  private var known: Int64 = 0
  private var output: OutputBuffer
  private let environment: CommandEnvironment

  /// The findings for a new baseline, if one is wanted.
  private(set) var newBaseline = AuditBaseline()

  /// Begins an audit.
  ///
  /// - Parameters:
  ///   - keepsBaseline: Whether to collect the findings for a new baseline.
  ///   - examples: The number of findings to show of each rule and host.
  init(
    _ options: CacheAudit.Options, baseline: AuditBaseline?, keepsBaseline: Bool,
    renderer: AuditRenderer,
    examples: Int, in environment: CommandEnvironment
  ) {
    scan = AuditScan(options)
    (self.baseline, self.renderer) = (baseline, renderer)
    (self.keepsBaseline, self.environment) = (keepsBaseline, environment)
    tally = AuditTally(examples: examples)
    output = OutputBuffer(environment)
    self.renderer.begin(into: &output.text)
  }

  /// Audits the selected entries, and writes what is found.
  mutating func audit(_ source: any ResponseSource, _ listing: inout Listing) throws {
    try scan.audit(source, &listing) { try add($0, size: $1) }
  }

  /// Audits the files of a cache.
  mutating func auditFiles(of store: StoreDescription) throws {
    try add(scan.findingsOnFiles(of: store))
  }

  /// Searches what removed entries left in the files of a cache.
  ///
  /// Call it when nothing more is read from the source: closing a file ends the locks that SQLite has on it.
  mutating func auditRemains(
    of store: StoreDescription, _ orphans: [OrphanFile]
  ) throws {
    let findings = try scan.findingsLeftBehind(in: store, orphans, environment)
    try add(findings)
    if !findings.isEmpty {
      environment.suggest(
        "overwrite these remains with", ["compact", "--secure", "-c", store.path])
    }
  }

  private mutating func add(_ findings: [AuditFinding], size: ByteCount = 0) throws {
    if keepsBaseline { for finding in findings { newBaseline.insert(finding) } }
    let new = baseline.map { baseline in findings.filter { !baseline.contains($0) } } ?? findings
    known += Int64(findings.count - new.count)
    tally.insert(new, size: size)
    for finding in new {
      renderer.append(finding, into: &output.text)
      try output.flushIfLarge()
    }
  }

  /// Writes what is left.
  mutating func finish(of store: StoreDescription) throws {
    try scan.findOnAll { try add([$0]) }
    let summary = AuditRenderer.Summary(cache: store, entries: scan.audit.entries, known: known)
    renderer.finish(tally, summary, into: &output.text)
    try output.flush()
    if scan.audit.undecodable > 0 {
      environment.note(
        "bodies that were searched only in part, because decoding failed: \(scan.audit.undecodable)"
      )
    }
  }

  /// Returns the exit status.
  func status(failingOn limit: FailureLimit) -> ExitStatus {
    limit.severity.map { tally.has($0) } ?? false ? .no : .done
  }
}

/// The audit of the entries of a cache on several threads, and of its files.
final class AuditScan {
  /// What the entries have shown.
  private(set) var audit: CacheAudit
  private let batches: EntryBatches<AuditWork>

  /// Begins an audit.
  init(_ options: CacheAudit.Options) {
    audit = CacheAudit(options)
    batches = EntryBatches(AuditWork(EntryAudit(options)))
  }

  /// Audits the selected entries.
  ///
  /// - Parameter found: Takes the findings about one entry, in the order of the entries, and the size of its body.
  func audit(
    _ source: any ResponseSource, _ listing: inout Listing,
    _ found: ([AuditFinding], ByteCount) throws -> Void
  ) throws {
    let projection = CacheAudit.projection.union(listing.selection.projection)
    try listing.work(on: source, projection, batches) { try take($0, found) }
  }

  private func take(
    _ result: EntryWorkResult<AuditWork>, _ found: ([AuditFinding], ByteCount) throws -> Void
  ) throws {
    let entries =
      switch result {
      case .part(let entries), .summary(let entries): entries
      }
    for entry in entries {
      try audit.insert(entry)
      try found(entry.findings, entry.size)
    }
  }

  /// Calls `found` with each finding that only all entries together show.
  func findOnAll(_ found: (AuditFinding) throws -> Void) throws {
    try audit.forEachFindingOnAll(found)
  }

  /// Returns the findings about the files of a cache.
  func findingsOnFiles(of store: StoreDescription) -> [AuditFinding] {
    guard let files = CacheFiles(of: store) else { return [] }
    return files.findings().filter { audit.options.rules.contains($0.rule) }
  }

  /// Searches what removed entries left in the files of a cache.
  ///
  /// Call it when nothing more is read from the source: closing a file ends the locks that SQLite has on it.
  func findingsLeftBehind(
    in store: StoreDescription, _ orphans: [OrphanFile], _ environment: CommandEnvironment
  ) throws -> [AuditFinding] {
    guard store.traits.hasDatabase, let files = CacheFiles(of: store) else { return [] }
    do {
      return try LeftBehind.findings(
        in: files, orphans, except: audit.secrets, now: audit.options.now
      ).filter { audit.options.rules.contains($0.rule) }
    } catch let error as FileError {
      environment.note("the free pages and the log were not searched completely: \(error)")
      return []
    }
  }
}

/// The audit of entries on one thread.
struct AuditWork: EntryWork {
  private let audit: EntryAudit
  private var entries: [AuditedEntry] = []
  private var memory = 0

  /// The memory of ``entries`` above which they are passed on.
  private static let mostMemory = 1 << 16

  init(_ audit: EntryAudit) { self.audit = audit }

  mutating func process(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ send: ([AuditedEntry], Int) throws -> Void
  ) throws {
    let entry = try audit.audit(response, body)
    memory += entry.memory
    entries.append(entry)
    guard memory >= Self.mostMemory else { return }
    let bytes = memory
    try send(takeEntries(), bytes)
  }

  mutating func endBatch(_ send: ([AuditedEntry], Int) throws -> Void) -> [AuditedEntry] {
    takeEntries()
  }

  private mutating func takeEntries() -> [AuditedEntry] {
    defer { (entries, memory) = ([], 0) }
    return entries
  }
}
