/// Which characters of a string a writer escapes as `\uXXXX`, in addition to those that JSON requires.
///
/// Quotes, backslashes, tabs and line ends always have the short escapes `\"`, `\\`, `\t`, `\n` and `\r`.
public struct JSONEscaping: Sendable {
  /// Whether a character is written as one `\uXXXX` escape, or two for a surrogate pair.
  let isEscaped: @Sendable (Unicode.Scalar) -> Bool

  /// The hexadecimal digit for 10: `a` or `A`.
  let digitTen: UInt8

  /// Creates an escaping that covers control characters and those that `isEscaped` selects.
  ///
  /// - Parameters:
  ///   - capitals: Whether the hexadecimal digits are capital letters.
  ///   - isEscaped: Whether a character is escaped. Control characters always are.
  public init(capitals: Bool, _ isEscaped: @escaping @Sendable (Unicode.Scalar) -> Bool) {
    self.isEscaped = isEscaped
    digitTen = capitals ? UInt8(ascii: "A") : UInt8(ascii: "a")
  }

  /// Escapes everything but printable ASCII, with lowercase digits.
  public static let ascii = JSONEscaping(capitals: false) { !(" "..."~").contains($0) }
}
