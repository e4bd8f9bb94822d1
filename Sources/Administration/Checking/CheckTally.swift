import Bytes
import Matching
import ResponseStorage

/// The findings on consecutive responses.
///
/// Each thread that reads the store fills one: checking a response takes as long as reading it.
struct CheckTally: ResponseTally {
  /// The findings on one response, in order.
  struct Checked {
    /// The finding of a rule.
    let byRule: Finding?
    /// The other findings.
    let findings: [Finding]
    /// The response as a repair would remove it; `nil` if no finding has a repair.
    let entry: RemovalPlan.Entry?
  }

  /// The fields to decode of each response.
  let projection: Projection

  /// The number of all responses.
  private(set) var responses: Int64 = 0
  /// The responses with findings.
  private(set) var checked: [Checked] = []
  /// The names of body files in the responses.
  private(set) var bodyFiles: [ByteString] = []
  /// The expression of a rule that took too long; later responses are not checked.
  private(set) var overrun: RegularExpression.Overrun?

  private let check: EntryCheck
  private let rules: EntryRules

  /// Creates an empty tally.
  init(_ check: EntryCheck, _ rules: EntryRules) {
    self.check = check
    self.rules = rules
    projection = EntryCheck.projection(with: rules.projection)
  }

  // Few enough that the findings in memory do not grow with those of a store, whose URLs can be long.
  var isFull: Bool { checked.count >= 256 || overrun != nil }

  mutating func insert(_ response: borrowing StoredResponse) {
    guard overrun == nil else { return }
    responses += 1
    if let name = response.bodyFileName { bodyFiles.append(name) }
    do throws(RegularExpression.Overrun) {
      let byRule = try rules.finding(on: response)
      let findings = check.findings(on: response)
      if byRule == nil, findings.isEmpty { return }
      let isRepairable = findings.contains { $0.code.repair != nil }
      let entry = isRepairable ? RemovalPlan.Entry(of: response, at: nil) : nil
      checked.append(Checked(byRule: byRule, findings: findings, entry: entry))
    } catch {
      overrun = error
    }
  }

  /// Makes room for other responses.
  mutating func removeAll() {
    responses = 0
    checked.removeAll(keepingCapacity: true)
    bodyFiles.removeAll(keepingCapacity: true)
  }
}
