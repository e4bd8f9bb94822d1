import HTTPCaching
import Testing

@Suite struct DigestFieldsTests {
  private func shown(_ values: [DigestFields.Value]) -> [String] {
    values.map { "\($0.algorithm) \(String(decoding: $0.base64, as: UTF8.self))" }
  }

  @Test func `each field has its digests`() {
    let digests = DigestFields(
      Sample.fields(
        "Repr-Digest: sha-256=:YQ==:, SHA-512=:Yg==:;x=1",
        "repr-digest: unixsum=:AA==:, md5=:Yw==:",
        "Digest: SHA=ZA==,sha-256=ZQ==, UNIXcksum=1", "Content-Digest: sha-512=:Zg==:",
        "Content-MD5: Zw=="))
    #expect(
      shown(digests.ofRepresentation) == [
        "sha256 YQ==", "sha512 Yg==", "md5 Yw==", "sha1 ZA==", "sha256 ZQ==",
      ])
    #expect(shown(digests.ofContent) == ["sha512 Zg=="])
    #expect(digests.contentMD5.map { shown([$0]) } == ["md5 Zw=="])
  }

  @Test(
    arguments: [
      "", "sha-256", "sha-256=", "sha-256=:", "sha-256=YQ==", "sha-256=:YQ==", "=:YQ==:",
      "sha-256 =:YQ==:", "x=\"a, sha-256=:YQ==:\"", "sha-384=:YQ==:", "sha-256;x=:YQ==:",
    ])
  func `malformed digests are ignored`(_ value: String) {
    let digests = DigestFields(Sample.fields("Repr-Digest: \(value)", "Content-Digest: \(value)"))
    #expect(shown(digests.ofRepresentation + digests.ofContent) == [])
  }

  @Test func `a message without digests has none`() {
    let digests = DigestFields(Sample.fields("ETag: \"a\""))
    #expect(digests == DigestFields(FieldSection()))
    #expect(digests.contentMD5 == nil && digests.ofRepresentation.isEmpty)
  }
}
