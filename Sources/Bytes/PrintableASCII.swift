/// Text that every format takes as it is: the characters of ASCII from space to `~`.
public enum PrintableASCII {
  /// Whether `text` holds nothing but printable ASCII, and neither of two characters of it.
  ///
  /// It may say no where the truth is yes, after which a closer look costs time and nothing else.
  public static func isAll(
    of text: Span<UInt8>, but first: UInt8 = 0, _ second: UInt8 = 0
  ) -> Bool {
    let (first, second) = (UInt64(first) &* ones, UInt64(second) &* ones)
    var found: UInt64 = 0
    var place = 0
    // Eight bytes at once, the high bit of each saying whether it is special.
    while place &+ 8 <= text.count {
      found |= special(text.word(at: place), first, second)
      place &+= 8
    }
    if place < text.count {
      var rest = 0x20 &* ones
      while place < text.count {
        rest = rest << 8 | UInt64(text[place])
        place &+= 1
      }
      found |= special(rest, first, second)
    }
    return found & (0x80 &* ones) == 0
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// A word with the high bit of each byte set that is below a space or above `~`, or is that of
  /// `first` or `second`; perhaps also of a byte above such a one.
  @inline(__always)
  private static func special(_ word: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
    let control = (word &- 0x20 &* ones) & ~word
    let beyond = word | (word &+ ones)
    let isFirst = word ^ first
    let isSecond = word ^ second
    return control | beyond | ((isFirst &- ones) & ~isFirst) | ((isSecond &- ones) & ~isSecond)
  }
}
