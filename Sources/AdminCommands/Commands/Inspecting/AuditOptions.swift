import Administration
import ArgumentParser
import Auditing
import Bytes
import Files
import JSON
import ResponseStorage

/// The options for what to look for, and what is known already.
struct AuditOptions: ParsableArguments {
  @Flag(help: "List the rules; do not read a cache.")
  var rules = false

  @Option(
    name: .customLong("rule"),
    help: ArgumentHelp(
      "Apply only this rule, or the rules on this subject: secret, privacy, caching.",
      valueName: "id"),
    completion: .list(RuleSelector.all), transform: RuleSelector.init(parsing:))
  var only: [RuleSelector] = []

  @Option(
    help: ArgumentHelp("Do not apply this rule, or the rules on this subject.", valueName: "id"),
    completion: .list(RuleSelector.all), transform: RuleSelector.init(parsing:))
  var ignore: [RuleSelector] = []

  @Option(
    help: ArgumentHelp("Report only findings that are not in this file.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var baseline: String?

  @Option(
    help: ArgumentHelp("Write the findings to this file, as a baseline.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var writeBaseline: String?

  @Option(
    help: ArgumentHelp(
      "Exit with status 1 if a finding is at least this severe: error, warning, note, never.",
      valueName: "severity"))
  var failOn = FailureLimit.error

  @Option(
    help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
    transform: parseSize)
  var capacity: ByteCount?

  func validate() throws {
    guard capacity.map({ $0 > 0 }) ?? true else {
      throw ValidationError("'--capacity' must be more than zero.")
    }
    guard !selectedRules.isEmpty else {
      throw ValidationError("'--rule' and '--ignore' leave no rule to apply.")
    }
  }

  /// The rules to apply, in the order of their ids.
  var selectedRules: [AuditRule] {
    AuditRule.all.filter { rule in
      (only.isEmpty || only.contains { $0.matches(rule) }) && !ignore.contains { $0.matches(rule) }
    }
  }

  /// Reads the baseline; `nil` if there is none.
  func knownFindings(in environment: CommandEnvironment) throws -> AuditBaseline? {
    try baseline.map { try Self.baseline(in: $0, environment) }
  }

  private static func baseline(
    in path: String, _ environment: CommandEnvironment
  ) throws -> AuditBaseline {
    let text = try environment.inputs.text(of: path, upTo: AuditBaseline.mostBytes)
    do { return try AuditBaseline(text) } catch {
      throw CommandFailure.usage(
        "'\(printable(path))' is not a baseline",
        hint: "write one with: urlcache-admin audit CACHE --write-baseline FILE")
    }
  }

  /// Creates the file for the new baseline, before the cache is read; `nil` if none is wanted.
  func newBaseline(
    beside source: any ResponseSource, in environment: CommandEnvironment
  ) throws -> ArchiveOutput? {
    guard let writeBaseline else { return nil }
    try source.refuseReplacement(by: writeBaseline)
    // A baseline is replaced by a newer one, and nothing else is.
    let exists = writeBaseline != "-" && (try? FileStatus.of(writeBaseline)) != nil
    if exists { _ = try Self.baseline(in: writeBaseline, environment) }
    return try ArchiveOutput(path: writeBaseline, isForced: exists, isText: true, environment)
  }
}

/// The id of a rule, or the subject of several.
struct RuleSelector: Hashable {
  private let text: String

  /// All ids and subjects.
  static let all = AuditRule.Subject.allCases.map(\.rawValue) + AuditRule.all.map(\.id)

  init(parsing text: String) throws {
    let text = ["secrets", "token", "tokens"].contains(text) ? "secret" : text
    guard Self.all.contains(text) else {
      let nearest = Spelling.nearest(to: text, among: Self.all).map { "Did you mean '\($0)'?" }
      throw ValidationError(
        "'\(printable(text))' is not a rule. \(nearest ?? "List them with 'audit --rules'.")")
    }
    self.text = text
  }

  /// Whether the rule is meant.
  func matches(_ rule: AuditRule) -> Bool { rule.id == text || rule.subject.rawValue == text }
}

/// The least severe finding that makes the command fail.
enum FailureLimit: String, CaseIterable, ExpressibleByArgument {
  case error, warning, note, never

  /// The severity; `nil` for none.
  var severity: Finding.Severity? { Finding.Severity(rawValue: rawValue) }
}

/// The options for how much to show of an audit.
struct AuditOutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Show at most this many hosts (table and markdown).", valueName: "number"))
  var limit = 20

  @Option(
    help: ArgumentHelp(
      "Show at most this many findings of each rule and host (table).", valueName: "number"))
  var examples = 3

  func validate() throws {
    guard limit > 0 else { throw ValidationError("'--limit' must be at least 1.") }
    guard examples >= 0 else { throw ValidationError("'--examples' cannot be less than zero.") }
  }
}
