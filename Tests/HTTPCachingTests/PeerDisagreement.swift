import HTTPCaching

/// A class of cases in which hishel 2.0.0 differs, and the section of an RFC that requires or permits our result.
struct PeerDisagreement: Sendable {
  let question: PeerQuestion
  let name: String
  let section: Section
  let explains: @Sendable (PeerComparison) -> Bool

  private init(
    _ question: PeerQuestion, _ name: String, _ rfc: Int, _ section: String,
    _ explains: @escaping @Sendable (PeerComparison) -> Bool
  ) {
    self.question = question
    self.name = name
    self.section = Section(rfc: rfc, section)
    self.explains = explains
  }

  static let all: [PeerDisagreement] =
    lifetime + age + reuse + storing + conditions + selection + update

  private static let lifetime = [
    PeerDisagreement(.lifetime, "the first of two max-age counts", 9111, "4.2.1") {
      $0.count(of: .maxAge) > 1
    },
    PeerDisagreement(.lifetime, "an invalid max-age is stale", 9111, "4.2.1") {
      $0.freshness.lifetime.source == .invalidMaxAge
    },
    PeerDisagreement(.lifetime, "2^31 stands for greater numbers", 9111, "1.2.2") {
      $0.freshness.lifetime.seconds == 2_147_483_648 && $0.theirs.lifetime == 2_147_483_647
    },
    PeerDisagreement(.lifetime, "another zone or form is no date", 9110, "5.6.7") {
      $0.dependsOnInvalidDate
    },
    PeerDisagreement(.lifetime, "two digits are a year within 50", 9110, "5.6.7") {
      $0.dependsOnYear70
    },
    PeerDisagreement(.lifetime, "a heuristic counts to Date, and to no limit", 9111, "4.2.2") {
      $0.freshness.lifetime.source == .heuristic && $0.isTheirHeuristic
    },
    PeerDisagreement(.lifetime, "a heuristic needs a status", 9110, "15.1") {
      $0.freshness.lifetime.basis == .none(.status)
        && ($0.isTheirHeuristic || $0.readsOtherLastModified)
    },
    PeerDisagreement(.lifetime, "an open quotation mark ends where its line does", 9111, "5.2") {
      $0.hasOpenQuote
    },
  ]

  private static let age = [
    PeerDisagreement(.age, "Age counts", 9111, "4.2.3") {
      $0.freshness.age.ageValue > 0 && $0.theirs.age == $0.theirAge
    },
    PeerDisagreement(.age, "the delay counts", 9111, "4.2.3") {
      $0.freshness.age.responseDelay > 0 && $0.theirs.age == $0.theirAge
    },
    PeerDisagreement(.age, "the time here counts without Date", 9111, "4.2.3") {
      $0.exchange.date == .absent && $0.theirs.age == 0
    },
    PeerDisagreement(.age, "the time here counts from the receipt", 9111, "4.2.3") {
      $0.freshness.age.fieldFindings(about: $0.exchange).contains { $0.kind == .originClockAhead }
        && $0.theirs.age == $0.theirAge
    },
    PeerDisagreement(.age, "another zone or form is no Date", 9110, "5.6.7") {
      if case .invalid = $0.exchange.date { true } else { false }
    },
    PeerDisagreement(.age, "two digits are a year within 50 of Date", 9110, "5.6.7") {
      $0.hasYear70(.date)
    },
  ]

  private static let reuse = [
    PeerDisagreement(.reuse, "lifetime or age differ", 9111, "4.2") {
      $0.theirs.reuses != $0.reuse.isReusable && $0.theyFindFresh != $0.freshness.isFresh
    },
    PeerDisagreement(.reuse, "max-age, min-fresh and max-stale count", 9111, "5.2.1") {
      $0.reuse.reasons.contains {
        switch $0 {
        case .tooOld, .notFreshEnough, .maxStalePermits: true
        default: false
        }
      }
    },
    PeerDisagreement(.reuse, "no-store forbids any use", 9111, "5.2.2.5") {
      $0.reuse.reasons.contains(.responseNoStore) && $0.theirs.reuses
    },
    PeerDisagreement(.reuse, "must-understand forbids an unknown status", 9111, "5.2.2.3") {
      $0.reuse.reasons.contains(.statusNotUnderstood) && $0.theirs.reuses
    },
    PeerDisagreement(.reuse, "Pragma counts in a request", 7234, "5.4") {
      $0.reuse.reasons.contains(.requestPragma)
    },
    PeerDisagreement(.reuse, "stale-while-revalidate permits", 5861, "3") {
      $0.reuse.decision == .useWhileRevalidating
    },
    PeerDisagreement(.reuse, "the strictest no-cache counts", 9111, "5.2.2.4") {
      $0.count(of: .noCache) > 1 && $0.reuse.reasons.contains(.responseNoCache)
    },
    PeerDisagreement(.reuse, "white space around commas does not count", 9111, "4.1") {
      if case .matches = $0.reuse.vary { $0.hasOtherSpacing } else { false }
    },
    PeerDisagreement(.reuse, "part of a body is no answer", 9111, "3.3") {
      $0.reuse.reasons.contains(.incomplete(.fragment)) && $0.theirs.reuses
    },
    PeerDisagreement(.reuse, "an open quotation mark hides no no-cache", 9111, "5.2") {
      $0.hasOpenQuote
    },
  ]

  private static let storing = [
    PeerDisagreement(.storing, "a 206 may be stored", 9111, "3.3") {
      $0.peerCase.status == 206 && $0.storability.mayStore
    },
    PeerDisagreement(.storing, "no-store of a request counts", 9111, "5.2.1.5") {
      $0.storability.reason == .requestNoStore
    },
    PeerDisagreement(.storing, "must-understand needs a known status", 9111, "5.2.2.3") {
      $0.storability.reason == .statusNotUnderstood
    },
    PeerDisagreement(.storing, "must-understand makes no-store void", 9111, "5.2.2.3") {
      $0.storability.fieldFindings.map(\.kind) == [.noStoreVoid]
    },
    PeerDisagreement(.storing, "max-age permits, whatever its number", 9111, "3") {
      $0.storability.reason == .maxAge && $0.exchange.directives.maxAge?.value == nil
    },
    PeerDisagreement(.storing, "the first of two max-age permits", 9111, "4.2.1") {
      $0.count(of: .maxAge) > 1 && $0.storability.reason == .maxAge
    },
    PeerDisagreement(.storing, "a POST may be stored with its location", 9110, "9.3.3") {
      $0.peerCase.method == "POST" && $0.storability.mayStore
    },
    PeerDisagreement(.storing, "an open quotation mark hides no no-store", 9111, "5.2") {
      $0.hasOpenQuote
    },
  ]

  private static let conditions = [
    PeerDisagreement(.conditions, "what must not be stored is not validated", 9111, "5.2.2.5") {
      $0.conditional.isForbidden && $0.conditional.conditions.isEmpty
    },
    PeerDisagreement(.conditions, "what is no date is not sent", 9110, "13.1.3") {
      $0.exchange.freshnessFields.lastModified.isInvalid
    },
    PeerDisagreement(.conditions, "an entity tag is one, and the first", 9110, "8.8.3") {
      $0.exchange.fields.values(of: .entityTag).count > 1
    },
    PeerDisagreement(.conditions, "a 304 would not complete a body", 9111, "3.3") {
      $0.conditional.conditions == [] && $0.reuse.reasons.contains(.incomplete(.fragment))
    },
  ]

  private static let selection = [
    PeerDisagreement(.selection, "a 304 updates what has its validator only", 9111, "4.3.4") {
      !$0.selection.mayUpdate && $0.theirs.updated != nil
    },
    PeerDisagreement(.selection, "a weak tag is a validator, too", 9111, "4.3.4") {
      $0.selection == .sameWeakTag && $0.theirs.updated == nil
    },
    PeerDisagreement(.selection, "dates are compared as times", 9110, "8.8.2") {
      $0.selection == .sameLastModified && $0.theirs.updated == nil
    },
    PeerDisagreement(.selection, "of two entity tags the first counts", 9110, "8.8.3") {
      $0.exchange.fields.values(of: .entityTag).count > 1
    },
  ]

  private static let update = [
    PeerDisagreement(.update, "the old Age goes", 9111, "4.2.3") {
      $0.field == "age" && $0.updated?["age"] == nil
    },
    PeerDisagreement(.update, "what Connection names stays", 9110, "7.6.1") {
      $0.isNamedByConnection && $0.updated?[$0.field] == nil
    },
    PeerDisagreement(.update, "Trailer stays", 9111, "3.1") {
      $0.field == "trailer" && $0.updated?["trailer"] == nil
    },
    PeerDisagreement(.update, "what no-cache names is withheld, not removed", 9111, "5.2.2.4") {
      $0.field == "x-a" && $0.updated?["x-a"] == ["old"] && $0.theirs.updated?["x-a"] == nil
    },
    PeerDisagreement(.update, "no-cache without fields is about all of it", 9111, "5.2.2.4") {
      $0.field == "x-b" && $0.count(of: .noCache) > 1 && $0.updated?["x-b"] == ["new"]
    },
  ]
}
