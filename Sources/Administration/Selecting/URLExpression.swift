import Files
import _StringProcessing

/// A regular expression for whole URLs, by Unicode scalars.
///
/// Some expressions backtrack exponentially, such as `(a+)+b` on a text of letters `a`, and the texts come from any
/// server. So each match has a time limit.
///
/// `Regex` is not `Sendable` for two reasons: it may contain closures, and its first match compiles it, which writes to
/// memory shared by its copies. An expression created from text contains no closures, and ``init`` matches once, so
/// that threads only read afterwards. The worker has its own `Regex`. Everything else is immutable.
public struct URLExpression: @unchecked Sendable {
  /// A match that exceeded its time limit.
  public struct Overrun: Error, Hashable, Sendable {
    /// The expression.
    public var pattern: String
    /// The length of the text, in bytes.
    public var textLength: Int
    /// The time limit, in milliseconds.
    public var milliseconds: Int
  }

  /// The number of ways to match that can be tried without a noticeable delay.
  private static let fewWays = 1 << 24

  /// The time limit for one text, in milliseconds.
  private let limit: Int
  private let pattern: String
  private let expression: Regex<AnyRegexOutput>
  /// The maximum number of repetitions; `nil` if they may be nested.
  private let repetitions: Int?
  private let worker: Worker<Regex<AnyRegexOutput>?>

  /// Creates an expression; throws the error of the library if it is invalid.
  ///
  /// - Parameter limit: The time limit for one text, in milliseconds.
  public init(_ pattern: String, limit: Int = 5_000) throws {
    expression = try Self.regex(pattern)
    worker = Worker("URLExpression") { try? Self.regex(pattern) }
    self.pattern = pattern
    self.limit = limit
    repetitions =
      pattern.utf8.contains(UInt8(ascii: "("))
      ? nil : pattern.utf8.count { "*+?{".utf8.contains($0) }
    // Only expressions without groups are matched on other threads. An empty text matches in a single step.
    if repetitions != nil { _ = Self.matches(expression, "") }
  }

  /// Whether the whole `text` matches; an expression that fails matches nothing.
  ///
  /// - Throws: ``Overrun`` if the match takes too long. Its thread keeps running until the process ends.
  public func matches(_ text: String) throws(Overrun) -> Bool {
    if hasFewWays(ofLength: text.utf8.count) { return Self.matches(expression, text) }
    let result = worker.result(within: limit) { $0.map { Self.matches($0, text) } ?? false }
    guard let result else {
      throw Overrun(pattern: pattern, textLength: text.utf8.count, milliseconds: limit)
    }
    return result
  }

  private static func regex(_ pattern: String) throws -> Regex<AnyRegexOutput> {
    try Regex(pattern).matchingSemantics(.unicodeScalar)
  }

  private static func matches(_ expression: Regex<AnyRegexOutput>, _ text: String) -> Bool {
    (try? expression.wholeMatch(in: text)) != nil
  }

  /// Whether a text is so short that matching needs no time limit: without nesting, each repetition can end at each
  /// position.
  private func hasFewWays(ofLength length: Int) -> Bool {
    guard let repetitions else { return false }
    var ways = 1
    for _ in 0..<repetitions {
      let (product, overflow) = ways.multipliedReportingOverflow(by: length + 1)
      if overflow || product > Self.fewWays { return false }
      ways = product
    }
    return true
  }
}
