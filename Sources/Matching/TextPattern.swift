public import Bytes

/// What to find in text: literal text or a regular expression.
public struct TextPattern: Sendable {
  private enum Kind: Sendable {
    case literal(LiteralSearch)
    case expression(RegularExpression, Finder)
  }

  /// How lines are found that may match an expression.
  private enum Finder: Sendable {
    /// By something that each match contains.
    case literal(LiteralSearch)
    /// By the expression, which cannot match or see beyond a line.
    case expression
    /// Not at all: each line must be tried.
    case none
  }

  private let kind: Kind
  /// The number of bytes in the longest match; `nil` if it is unknown.
  let longestMatch: Int?

  /// The pattern, as written.
  public let text: String

  /// A pattern that is not valid.
  public enum Failure: Error, Hashable, Sendable {
    /// There is nothing to search for.
    case empty
    /// It contains a line break, and lines are searched one by one.
    case lineBreak
    /// The expression is invalid.
    case syntax(RegularExpression.SyntaxError)
  }

  /// Creates a pattern.
  ///
  /// - Parameters:
  ///   - isExpression: Whether it is a regular expression and not literal text.
  ///   - ignoresCase: Whether letters match in both cases, by the simple case folding of Unicode.
  ///   - matchesWords: Whether no word character may stand before or after a match.
  public init(
    _ text: String, isExpression: Bool = false, ignoresCase: Bool = false,
    matchesWords: Bool = false
  ) throws(Failure) {
    guard !text.isEmpty else { throw .empty }
    guard !text.utf8.contains(UInt8(ascii: "\n")) else { throw .lineBreak }
    self.text = text
    let caseless = ignoresCase && !isExpression ? RequiredText.caselessSearch(of: text) : nil
    if !isExpression, !matchesWords {
      if !ignoresCase {
        longestMatch = text.utf8.count
        kind = .literal(LiteralSearch(ByteString(text)))
        return
      }
      if let caseless, caseless.text.bytes.count == text.utf8.count {
        // No letter of the text has another case with other bytes.
        longestMatch = text.utf8.count
        kind = .literal(caseless)
        return
      }
    }
    var options = RegularExpression.Options.allowsBrokenText
    if !isExpression { options.insert(.isLiteral) }
    if ignoresCase { options.insert(.ignoresCase) }
    if matchesWords { options.insert(.matchesWords) }
    let expression: RegularExpression
    do throws(RegularExpression.SyntaxError) {
      expression = try RegularExpression(text, options)
    } catch {
      throw .syntax(error)
    }
    // The other case of a letter may have more bytes, but no more than four times as many.
    longestMatch = isExpression ? nil : 4 * text.utf8.count
    let required =
      if isExpression {
        RequiredText.search(of: text, ignoringCase: ignoresCase)
          ?? expression.requiredByte.map { LiteralSearch(ByteString([$0])) }
      } else {
        ignoresCase ? caseless : LiteralSearch(ByteString(text))
      }
    let finder: Finder =
      if let required { .literal(required) } else { isExpression ? .none : .expression }
    kind = .expression(expression, finder)
  }

  /// Whether any line of a text matches.
  ///
  /// - Throws: ``RegularExpression/Overrun`` if a limit is exceeded.
  public func matches(_ text: ByteString) throws(RegularExpression.Overrun) -> Bool {
    try firstMatch(in: text.bytes.span, from: 0, isLineStart: true, isLineEnd: true) != nil
  }

  /// Returns a position in or before the first line, at `start` or after it, that may match; `nil` if no line can.
  ///
  /// The line of that position may not match after all.
  func candidate(
    in lines: Span<UInt8>, from start: Int
  ) throws(RegularExpression.Overrun) -> Int? {
    switch kind {
    case .literal(let search), .expression(_, .literal(let search)):
      search.firstIndex(in: lines, from: start)
    case .expression(let expression, .expression):
      try expression.firstMatch(in: lines, from: start)?.lowerBound
    case .expression(_, .none): start < lines.count ? start : nil
    }
  }

  /// Returns the first match in a line that begins at `start` or after it; `nil` if there is none.
  func firstMatch(
    in line: Span<UInt8>, from start: Int, isLineStart: Bool, isLineEnd: Bool
  ) throws(RegularExpression.Overrun) -> Range<Int>? {
    switch kind {
    case .literal(let search):
      search.firstIndex(in: line, from: start).map { $0..<$0 + search.text.bytes.count }
    case .expression(let expression, _):
      try expression.firstMatch(
        in: line, from: start, isLineStart: isLineStart, isLineEnd: isLineEnd)
    }
  }
}
