public import Bytes

/// Finds the secrets in a text that arrives in pieces of any size.
///
/// What is found does not depend on where the pieces end. Memory is bounded by the size of a piece.
public struct SecretScanner: Sendable {
  private let context: SecretDetector.Context
  private let now: Int64
  private var window: [UInt8] = []
  /// The offset of the window in the text.
  private var offset: Int64 = 0
  /// The index in the window before which all bytes were looked at.
  private var next = 0

  /// The bytes before a place that decide about it: a name, and a signed URL up to its signature.
  private static let before = SignedURL.reach + 512
  /// The bytes after a place that decide about it: a secret, and the rest of a signed URL.
  private static let after = SecretMatch.mostBytes + SignedURL.reach + 512

  /// Creates a scanner.
  public init(_ context: SecretDetector.Context, now: Timestamp) {
    (self.context, self.now) = (context, now.wholeSeconds)
  }

  /// Looks at the next piece of the text.
  public mutating func append(_ piece: ArraySlice<UInt8>, _ found: (SecretMatch) -> Void) {
    window += piece
    look(upTo: window.count - Self.after, found)
    guard next - Self.before > 1 << 16 else { return }
    let dropped = next - Self.before
    window.removeFirst(dropped)
    offset += Int64(dropped)
    next -= dropped
  }

  /// Looks at the end of the text.
  public mutating func finish(_ found: (SecretMatch) -> Void) {
    look(upTo: window.count, found)
    window = []
  }

  private mutating func look(upTo end: Int, _ found: (SecretMatch) -> Void) {
    guard end > next else { return }
    let offset = offset
    SecretDetector(text: window, context: context, now: now).forEachMatch(in: next..<end) { match in
      var match = match
      match.offset += offset
      found(match)
    }
    next = end
  }

  /// Returns the secrets in a short text.
  public static func matches(
    in text: [UInt8], _ context: SecretDetector.Context, now: Timestamp
  ) -> [SecretMatch] {
    var result: [SecretMatch] = []
    SecretDetector(text: text, context: context, now: now.wholeSeconds)
      .forEachMatch(in: text.indices) { result.append($0) }
    return result
  }
}
