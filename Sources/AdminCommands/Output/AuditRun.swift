import Auditing
import Bytes
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
    scan = AuditScan(options, temporaryFolder: environment.temporaryFolder)
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
