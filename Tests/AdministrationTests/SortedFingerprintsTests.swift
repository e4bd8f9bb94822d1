import Bytes
import Files
import ResponseStorage
import Testing

@testable import Administration

@Suite struct SortedFingerprintsTests {
  @Test func `fingerprints are in the order of keys, and of the store`() throws {
    for seed in 0..<20 as Range<UInt64> {
      var random = Numbers(state: seed)
      let prints = (0..<300).map { number in
        // Few keys, so that most have several fingerprints.
        let key = ByteString("key \(UInt64.random(in: 0..<90, using: &random))")
        let url: [ByteString?] = [nil, key, "https://example.com/\u{301}\n"]
        var print = EntryFingerprint(
          key: key, url: url.randomElement(using: &random) ?? nil,
          id: number.isMultiple(of: 2) ? .row(Int64(number) - 100) : .file(key))
        print.digests[.body] = PartDigest(high: .random(in: 0 ... .max, using: &random), low: 7)
        print.digests[.other] = PartDigest(high: 1, low: UInt64(number))
        return print
      }
      let expected = prints.indices
        .sorted { (prints[$0].key, $0) < (prints[$1].key, $1) }
        .map { "\(prints[$0])" }
      #expect(try texts(of: prints) == expected, "seed \(seed)")
    }
  }

  @Test func `digests keep JSON apart from bytes`() {
    let digits = "00112233445566778899aabbccddeeff"
    #expect(
      PartDigest(digits + "ffff")
        == PartDigest(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF))
    #expect(PartDigest("json " + digits) != PartDigest(digits))
    var digest = Digest()
    digest.update([1, 2, 3][...])
    #expect(PartDigest(digest.hexadecimal) == PartDigest(digest))
  }

  private func texts(of prints: [EntryFingerprint]) throws -> [String] {
    let sorted = SortedFingerprints()
    for print in prints { try sorted.append(print) }
    try sorted.sort()
    var texts: [String] = []
    while let key = sorted.key { texts += try sorted.removeAll(of: key).map { "\($0)" } }
    return texts
  }

  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }
}
