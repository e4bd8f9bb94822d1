import Bytes
import ResponseStorage
import Testing

@testable import Auditing
@testable import Secrets

@Suite struct KnownSecretsTests {
  private func number(_ text: String) -> UInt64 {
    SecretMatch.fingerprintNumber(of: Array(text.utf8))
  }

  @Test func `only as many secrets are remembered as fit`() {
    var known = KnownSecrets(most: 2)
    known.insert(["a", "b", "c"].map(number))
    #expect(["a", "b", "c"].map { known.contains(Array($0.utf8)) } == [true, true, false])
  }

  @Test func `the number of a fingerprint has the same digits`() {
    let match = SecretMatch(.jwt, at: 0, Array("secret".utf8)[...])
    #expect(UInt64(match.fingerprint, radix: 16) == match.fingerprintNumber)
  }

  @Test func `a secret is kept once, and none beyond the limit`() {
    var found = FoundSecrets(most: 1)
    let match = SecretMatch(.jwt, at: 0, Array("secret".utf8)[...])
    let key = FoundSecrets.Key(value: match.value, place: .body)
    let other = FoundSecrets.Key(value: match.value, place: .url)
    let answers = [
      found.recount(key), found.insert(AuditFinding(.jwt, .body, secret: match), as: key),
      found.recount(key), found.recount(other),
      found.insert(AuditFinding(.jwt, .url, secret: match), as: other),
    ]
    #expect(answers == [false, true, true, false, false])
    #expect(found.findings.map(\.count) == [2])
  }
}
