/// A line of a text in which a pattern was found, or a line next to one.
public struct MatchedLine: Hashable, Sendable {
  /// The bytes, without the line break; of a long line, a part of it.
  public var bytes: [UInt8]

  /// The offset of ``bytes`` in the text.
  public var offset: Int64

  /// The number of the line, starting at 1; `nil` if lines are not numbered.
  public var number: Int64?

  /// The matches, as ranges of ``bytes``; empty for a line of context.
  public var matches: [Range<Int>]

  /// Whether ``bytes`` begins where the line does.
  public var hasStart: Bool

  /// Whether ``bytes`` ends where the line does.
  public var hasEnd: Bool

  /// Whether a line break follows.
  public var endsWithBreak: Bool

  /// Whether a part of the same line was passed on before.
  public var continuesLine: Bool

  /// Creates a line.
  public init(
    bytes: [UInt8], offset: Int64 = 0, number: Int64? = 1, matches: [Range<Int>] = [],
    hasStart: Bool = true, hasEnd: Bool = true, endsWithBreak: Bool = false,
    continuesLine: Bool = false
  ) {
    self.bytes = bytes
    self.offset = offset
    self.number = number
    self.matches = matches
    self.hasStart = hasStart
    self.hasEnd = hasEnd
    self.endsWithBreak = endsWithBreak
    self.continuesLine = continuesLine
  }
}
