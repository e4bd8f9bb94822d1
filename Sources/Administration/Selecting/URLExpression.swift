import Files
import _StringProcessing

/// A regular expression for whole URLs, by Unicode scalars.
///
/// The library tries one way after the other to make a text match, of which some expressions have more than can ever
/// be tried: `(a+)+b` on a text of letters `a`. And the texts come from anywhere.
///
/// `Regex` is not `Sendable` for two reasons: it may hold closures of whoever builds it, and it compiles itself when it first
/// matches, which is a write to memory that its copies share. One that is made of a text holds no closures, and ``init``
/// makes it match once, so that threads only read it afterwards. The worker has a `Regex` of its own. All else is
/// immutable.
public struct URLExpression: @unchecked Sendable {
  /// An expression that was not done with a text in time.
  public struct Overrun: Error, Hashable, Sendable {
    /// The expression.
    public var pattern: String
    /// How many bytes the text has.
    public var textLength: Int
    /// How long it had, in milliseconds.
    public var milliseconds: Int
  }

  /// How many ways take no time that anybody would notice.
  private static let fewWays = 1 << 24

  /// How long one text may take, in milliseconds.
  private let limit: Int
  private let pattern: String
  private let expression: Regex<AnyRegexOutput>
  /// How many repetitions there are at most; `nil` if one may be within another.
  private let repetitions: Int?
  private let worker: Worker<Regex<AnyRegexOutput>?>

  /// Creates an expression; throws the library's own error if it is none.
  ///
  /// - Parameter limit: How long one text may take, in milliseconds.
  public init(_ pattern: String, limit: Int = 5_000) throws {
    expression = try Self.regex(pattern)
    worker = Worker("URLExpression") { try? Self.regex(pattern) }
    self.pattern = pattern
    self.limit = limit
    repetitions =
      pattern.utf8.contains(UInt8(ascii: "("))
      ? nil : pattern.utf8.count { "*+?{".utf8.contains($0) }
    // Only an expression without groups matches on the threads of others, and there is one way to match nothing.
    if repetitions != nil { _ = Self.matches(expression, "") }
  }

  /// Whether all of `text` matches; an expression that fails matches nothing.
  ///
  /// - Throws: ``Overrun`` if it takes too long to find out. That goes on until the process ends.
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

  /// Whether a text is so short that no thread is needed to watch another: each repetition can end at each of its
  /// places, if none is within another.
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
