/// Text that needs no escaping in most formats: the ASCII characters from space to `~`.
public enum PrintableASCII {
  /// Whether `text` is printable ASCII and contains neither `first` nor `second`.
  ///
  /// It may return `false` for such a text, which costs the caller only a closer look. It never returns `true` wrongly.
  public static func isAll(
    of text: Span<UInt8>, but first: UInt8 = 0, _ second: UInt8 = 0
  ) -> Bool {
    let (first, second) = (UInt64(first) &* ones, UInt64(second) &* ones)
    var found: UInt64 = 0
    var place = 0
    // Eight bytes at a time; the high bit of each byte marks a special character.
    // No early exit: nearly all texts are plain, so all of a text is read in any case.
    while place &+ 8 <= text.count {
      found |= special(text.word(at: place), first, second)
      place &+= 8
    }
    if place < text.count {
      // The last bytes are padded with spaces, which are plain.
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

  /// Returns a word with the high bit set in each byte that is below a space, above `~`, or equal to the byte repeated
  /// in `first` or `second`. Borrows may also mark a byte above one of these.
  @inline(__always)
  private static func special(_ word: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
    let control = (word &- 0x20 &* ones) & ~word
    let beyond = word | (word &+ ones)
    let isFirst = word ^ first
    let isSecond = word ^ second
    return control | beyond | ((isFirst &- ones) & ~isFirst) | ((isSecond &- ones) & ~isSecond)
  }
}
