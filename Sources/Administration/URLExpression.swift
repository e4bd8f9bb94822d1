import _StringProcessing

/// A regular expression for whole URLs, by Unicode scalars.
public struct URLExpression {
  private let expression: Regex<AnyRegexOutput>

  /// Creates an expression; throws the library's own error if it is none.
  public init(_ pattern: String) throws {
    expression = try Regex(pattern).matchingSemantics(.unicodeScalar)
  }

  /// Whether all of `text` matches; an expression that fails matches nothing.
  public func matches(_ text: String) -> Bool {
    (try? expression.wholeMatch(in: text)) != nil
  }
}
