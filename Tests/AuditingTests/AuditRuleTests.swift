import Secrets
import Testing

@testable import Auditing

@Suite struct AuditRuleTests {
  @Test(arguments: SecretRule.allCases)
  func `each kind of secret has a rule of the same id`(kind: SecretRule) {
    #expect(AuditRule(kind).id == kind.rawValue)
    #expect(AuditRule(kind).subject == (kind.isCredential ? .secret : .privacy))
  }
}
