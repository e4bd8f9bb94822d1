import HTTPCaching
import Testing

/// The results of both implementations for one case.
struct PeerComparison {
  let peerCase: PeerCase
  let exchange: Exchange
  let theirs: Peer.Answer
  let freshness: Freshness
  let reuse: Reuse
  let storability: Storability
  let conditional: ConditionalRequest
  let selection: NotModified.Selection
  let updated: [String: [String]]?

  /// The field that the question is about, in lowercase, if any.
  var field = ""

  init(_ peerCase: PeerCase, _ theirs: Peer.Answer) {
    self.peerCase = peerCase
    self.theirs = theirs
    exchange = peerCase.exchange
    let request = peerCase.presentedRequest
    freshness = Freshness(of: exchange, at: peerCase.now)
    reuse = Reuse(of: exchange, for: request, at: peerCase.now)
    storability = Storability(of: exchange)
    conditional = ConditionalRequest(validating: exchange, for: request)
    selection = peerCase.update.selection(of: exchange)
    updated =
      selection.mayUpdate
      ? lists(Freshening(exchange, by: peerCase.update).exchange.fields) : nil
  }

  /// The questions with different results, each with its field.
  var differences: [(PeerQuestion, field: String)] {
    var questions: [PeerQuestion] = []
    let lifetime = freshness.lifetime
    let ours = lifetime.source == .none ? nil : lifetime.seconds
    // A negative lifetime means the same as zero: never fresh.
    if ours != theirs.lifetime.map({ max(0, $0) }) { questions.append(.lifetime) }
    if freshness.age.seconds != theirs.age { questions.append(.age) }
    if reuse.isReusable != theirs.reuses { questions.append(.reuse) }
    if storability.mayStore != theirs.stores { questions.append(.storing) }
    let conditions = Dictionary(
      uniqueKeysWithValues: conditional.conditions.map { (text($0.name), text($0.value)) })
    if conditions != theirs.conditions { questions.append(.conditions) }
    if (updated == nil) != (theirs.updated == nil) { questions.append(.selection) }
    return questions.map { ($0, "") } + differingFields.map { (.update, $0) }
  }

  /// The fields that differ after an update that both sides make.
  private var differingFields: [String] {
    guard let updated, let theirs = theirs.updated else { return [] }
    return Set(updated.keys).union(theirs.keys).filter { updated[$0] != theirs[$0] }.sorted()
  }
}

/// The questions to both sides.
enum PeerQuestion: String, CaseIterable {
  case lifetime, age, reuse, storing, conditions, selection, update
}

/// Returns the values of each field, by name in lowercase.
func lists(_ fields: FieldSection) -> [String: [String]] {
  Dictionary(grouping: fields.lines) { text($0.name).lowercased() }
    .mapValues { $0.map { text($0.value) } }
}

@Suite struct PeerTests {
  @Test(.enabled(if: Peer.isInstalled, Peer.hint))
  func `every difference from hishel is listed with the RFC section that decides it`() throws {
    let cases = (0..<4_000 as Range<UInt64>).map { PeerCase(seed: $0) }
    let answers = try Peer.answers(to: cases)
    try #require(answers.count == cases.count)
    var agreements: [PeerQuestion: Int] = [:]
    var found: [String: Int] = [:]
    for (seed, (peerCase, answer)) in zip(cases, answers).enumerated() {
      var comparison = PeerComparison(peerCase, answer)
      let differences = comparison.differences
      for question in PeerQuestion.allCases where !differences.contains(where: { $0.0 == question })
      {
        agreements[question, default: 0] += 1
      }
      for (question, field) in differences {
        comparison.field = field
        let disagreements = PeerDisagreement.all.filter {
          $0.question == question && $0.explains(comparison)
        }
        if disagreements.isEmpty {
          Issue.record("seed \(seed), \(question) \(field): \(peerCase), they say \(answer)")
        }
        for disagreement in disagreements { found[disagreement.name, default: 0] += 1 }
      }
    }
    // An entry in the list that never occurs would prove nothing.
    for disagreement in PeerDisagreement.all {
      #expect(found[disagreement.name] != nil, "\(disagreement.name) never occurs")
    }
    for question in PeerQuestion.allCases {
      #expect(agreements[question, default: 0] > 1_000, "\(question)")
    }
  }
}
