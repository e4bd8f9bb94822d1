/// Text that needs no escaping in most formats: the ASCII characters from space to `~`.
public enum PrintableASCII {
  /// Whether `text` is printable ASCII and contains neither `first` nor `second`.
  ///
  /// It may return `false` for such a text, which costs the caller only a closer look. It never returns `true` wrongly.
  public static func isAll(
    of text: Span<UInt8>, but first: UInt8, _ second: UInt8 = 0
  ) -> Bool {
    let (first, second) = (UInt64(first) &* ones, UInt64(second) &* ones)
    return hasNone(of: text) { word in
      special(word) | equal(word, to: first) | equal(word, to: second)
    }
  }

  /// Whether `text` is printable ASCII.
  public static func isAll(of text: Span<UInt8>) -> Bool { hasNone(of: text, markedBy: special) }

  /// Whether `marks`, which sets the high bit of each byte of a word that it looks for, finds none.
  @inline(__always)
  private static func hasNone(of text: Span<UInt8>, markedBy marks: (UInt64) -> UInt64) -> Bool {
    var found: UInt64 = 0
    var place = 0
    // No early exit: nearly all texts are plain, so all of a text is read in any case.
    while place &+ 8 <= text.count {
      found |= marks(text.word(at: place))
      place &+= 8
    }
    if place == text.count { return found & (0x80 &* ones) == 0 }
    if text.count >= 8 {
      // The last bytes once more, with some before them.
      found |= marks(text.word(at: text.count &- 8))
    } else {
      // Padded with spaces, which are plain.
      var rest = 0x20 &* ones
      while place < text.count {
        rest = rest << 8 | UInt64(text[place])
        place &+= 1
      }
      found |= marks(rest)
    }
    return found & (0x80 &* ones) == 0
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Returns a word with the high bit set in each byte that is below a space or above `~`, and maybe in bytes above one of
  /// these.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    ((word &- 0x20 &* ones) & ~word) | word | (word &+ ones)
  }

  /// Returns a word with the high bit set in each byte that is equal to the byte repeated in `other`, and maybe in bytes
  /// above one of these.
  @inline(__always)
  private static func equal(_ word: UInt64, to other: UInt64) -> UInt64 {
    let difference = word ^ other
    return (difference &- ones) & ~difference
  }
}
