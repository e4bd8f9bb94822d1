/// Generates URLs that programs parse differently.
struct HostileURLs {
  private var random: Generator

  /// Creates a generator. Equal seeds give equal URLs.
  init(seed: UInt64) {
    random = Generator(state: seed)
  }

  private static let alphabet = Array("htps:/@[]?#%aF0 |\"\u{301}.\\\t\r\n&=;".utf8)

  private static let pieces = [
    ["http", "https", "HTTPS", "", "h+t", "1x", "a b", "é", "a#b", "a?b", "/x", "-a", "a.b-c+9"],
    ["://", "://", "://", ":/", ":", "//", "", ":\\\\", ":///", "%3A//", " ://", "/://"],
    ["", "", "u@", "u:p@", "a@b@", "@", "@@", "u/x@", "u?@", "u#@", "[u]@", "u:[p]:@", "é:ü@"],
    ["h.example", "", "[::1]", "[::1", "::1]", "[a]b", "a]b", "a:b:c", "h\\@x", "%41", "[[a]]"],
    ["", "", ":", ":80", ":0080", ":8a", ":80:80", "]:1", "::", ":é"],
    ["", "/", "/a/b", "//", "/./../a/", "/%00", "/a@b", "/x://u:p@h/y", "/a;b=c", "\\a", "/a[b]"],
    ["", "", "?", "?a=1&b=2", "?b=2&&a=1&=x&c", "?u=http://u:p@h/&z=1", "?a?b", "?a=b/"],
    ["", "", "#", "#f", "#a#b", "#?x=y@", "#//u:p@h"],
  ]

  /// Returns the next URL.
  mutating func next() -> [UInt8] {
    if Int.random(in: 0..<5, using: &random) == 0 {
      return (0..<Int.random(in: 0..<30, using: &random)).map { _ in
        pick(Self.alphabet)
      }
    }
    var url: [UInt8] = []
    for choices in Self.pieces { url += pick(choices.map { Array($0.utf8) }) }
    if Bool.random(using: &random), !url.isEmpty {
      url[Int.random(in: 0..<url.count, using: &random)] =
        Bool.random(using: &random) ? pick(Self.alphabet) : .random(in: 0...255, using: &random)
    }
    return url
  }

  private mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }
}
