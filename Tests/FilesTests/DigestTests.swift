import Testing

@testable import Files

/// Compares digests with the examples of the standards: FIPS 180-4 (by way of RFC 6234 section 8.5) and RFC 1321 section A.5.
@Suite struct DigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ]) func `SHA-256 matches the standard`(message: String, digest: String) {
    var sha256 = Digest()
    sha256.update(Array(message.utf8)[...])
    #expect(sha256.hexadecimal == digest)
    #expect(hexadecimal(sha256.bytes) == digest)
  }

  @Test func `SHA-512, SHA-1 and MD5 match the standards`() {
    let message = Array("abc".utf8)[...]
    var sha512 = SHA512Digest()
    sha512.update(message)
    #expect(
      hexadecimal(sha512.bytes) == """
        ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
        2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
        """)
    var sha1 = SHA1Digest()
    sha1.update(message)
    #expect(hexadecimal(sha1.bytes) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    var md5 = MD5Digest()
    md5.update(message)
    #expect(hexadecimal(md5.bytes) == "900150983cd24fb0d6963f7d28e17f72")
  }

  /// Blocks are 64 or 128 bytes long, so messages are split before, at and after their ends.
  @Test func `a message in pieces has the digest of the whole`() {
    let message = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var whole = Digest()
    whole.update(message[...])
    for cut in message.indices {
      var pieces = Digest()
      pieces.update(message[..<cut])
      pieces.update(message[cut..<cut])
      pieces.update(message[cut...])
      #expect(pieces.bytes == whole.bytes, "cut at \(cut)")
    }
  }

  @Test func `reading a digest does not finish the message`() {
    var asked = Digest()
    asked.update([1, 2][...])
    let copy = asked
    _ = asked.bytes
    _ = asked.hexadecimal
    asked.update([3][...])
    var whole = Digest()
    whole.update([1, 2, 3][...])
    #expect(asked.bytes == whole.bytes)
    #expect(copy.bytes != whole.bytes)
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
