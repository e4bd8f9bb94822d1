import Bytes

/// The format of the keys of a service: a prefix, and characters of an alphabet.
struct TokenFormat: Sendable {
  /// The characters after the prefix.
  enum Alphabet: Sendable {
    case hexadecimal, capitals, letters, word, base64url, base64urlDots, base64urlSlashes

    func contains(_ byte: UInt8) -> Bool {
      switch self {
      case .hexadecimal: byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      case .capitals: byte.isASCIIDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      case .letters: byte.isASCIILetter || byte.isASCIIDigit
      case .word: byte.isOfWord
      case .base64url: byte.isOfWord || byte == UInt8(ascii: "-")
      case .base64urlDots: byte.isOfWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      case .base64urlSlashes:
        byte.isOfWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/")
      }
    }
  }

  let rule: SecretRule
  let prefix: [UInt8]
  let alphabet: Alphabet
  /// The number of characters after the prefix.
  let count: ClosedRange<Int>
  /// The index of the character of the prefix by which a search finds it.
  let anchor: Int

  private init(
    _ rule: SecretRule, _ prefix: String, _ alphabet: Alphabet, _ count: ClosedRange<Int>,
    anchor: Unicode.Scalar
  ) {
    (self.rule, self.alphabet, self.count) = (rule, alphabet, count)
    self.prefix = Array(prefix.utf8)
    let byte = UInt8(ascii: anchor)
    self.anchor = self.prefix.firstIndex(of: byte) ?? 0
    assert(self.prefix[self.anchor] == byte, "the anchor is in the prefix")
  }

  /// Returns the range of a key whose anchor is at an index of a text; `nil` if there is none.
  func range(in text: [UInt8], anchoredAt place: Int) -> Range<Int>? {
    let start = place - anchor
    guard start >= 0, start + prefix.count + count.lowerBound <= text.count else { return nil }
    // In a loop of its own, because most places fail at the first byte.
    for index in prefix.indices where text[start + index] != prefix[index] { return nil }
    if start > 0, text[start - 1].isOfWord { return nil }
    var end = start + prefix.count
    let limit = min(text.count, end + count.upperBound + 1)
    while end < limit, alphabet.contains(text[end]) { end += 1 }
    guard count.contains(end - start - prefix.count) else { return nil }
    return Randomness.hasDifferentBytes(text[(start + prefix.count)..<end], 8) ? start..<end : nil
  }

  /// All formats.
  static let all: [TokenFormat] = [
    .init(.awsKeyID, "AKIA", .capitals, 16...16, anchor: "I"),
    .init(.awsKeyID, "ASIA", .capitals, 16...16, anchor: "I"),
    .init(.googleAPIKey, "AIza", .base64url, 35...35, anchor: "I"),
    .init(.googleToken, "ya29.", .base64url, 30...2_048, anchor: "."),
    .init(.googleToken, "GOCSPX-", .base64url, 28...28, anchor: "-"),
    .init(.gitHub, "ghp_", .letters, 36...251, anchor: "_"),
    .init(.gitHub, "gho_", .letters, 36...251, anchor: "_"),
    .init(.gitHub, "ghu_", .letters, 36...251, anchor: "_"),
    .init(.gitHub, "ghs_", .letters, 36...251, anchor: "_"),
    .init(.gitHub, "ghr_", .letters, 36...251, anchor: "_"),
    .init(.gitHub, "github_pat_", .word, 60...251, anchor: "_"),
    .init(.gitLab, "glpat-", .base64urlDots, 20...128, anchor: "-"),
    .init(.gitLab, "gldt-", .base64url, 20...64, anchor: "-"),
    .init(.gitLab, "glrt-", .base64urlDots, 20...128, anchor: "-"),
    .init(.slack, "xoxb-", .base64url, 24...255, anchor: "-"),
    .init(.slack, "xoxp-", .base64url, 24...255, anchor: "-"),
    .init(.slack, "xoxa-", .base64url, 24...255, anchor: "-"),
    .init(.slack, "xoxr-", .base64url, 24...255, anchor: "-"),
    .init(.slack, "xoxs-", .base64url, 24...255, anchor: "-"),
    .init(.slack, "xapp-", .base64url, 24...255, anchor: "-"),
    .init(.slackWebhook, "hooks.slack.com/services/T", .base64urlSlashes, 30...90, anchor: "."),
    .init(.discordWebhook, "discord.com/api/webhooks/", .base64urlSlashes, 60...110, anchor: "."),
    .init(.stripe, "sk_live_", .letters, 16...255, anchor: "_"),
    .init(.stripe, "rk_live_", .letters, 16...255, anchor: "_"),
    .init(.stripe, "whsec_", .letters, 24...255, anchor: "_"),
    .init(.twilio, "SK", .hexadecimal, 32...32, anchor: "K"),
    .init(.sendGrid, "SG.", .base64urlDots, 60...70, anchor: "."),
    .init(.npm, "npm_", .letters, 36...36, anchor: "_"),
    .init(.pypi, "pypi-AgE", .base64url, 50...255, anchor: "-"),
    .init(.openAI, "sk-proj-", .base64url, 40...255, anchor: "-"),
    .init(.openAI, "sk-svcacct-", .base64url, 40...255, anchor: "-"),
    .init(.openAI, "sk-admin-", .base64url, 40...255, anchor: "-"),
    .init(.openAI, "sk-", .letters, 40...64, anchor: "-"),
    .init(.anthropic, "sk-ant-", .base64url, 40...255, anchor: "-"),
    .init(.huggingFace, "hf_", .letters, 34...40, anchor: "_"),
    .init(.shopify, "shpat_", .hexadecimal, 32...32, anchor: "_"),
    .init(.shopify, "shpss_", .hexadecimal, 32...32, anchor: "_"),
    .init(.digitalOcean, "dop_v1_", .hexadecimal, 64...64, anchor: "_"),
    .init(.docker, "dckr_pat_", .base64url, 27...64, anchor: "_"),
    .init(.vault, "hvs.", .base64url, 24...255, anchor: "."),
  ]

  /// The formats whose anchor is a byte.
  static let byAnchor: [[TokenFormat]] = (0...255).map { byte in
    all.filter { $0.prefix[$0.anchor] == UInt8(byte) }
  }
}
