/// Which characters of a string are written as numbers, beside those for which JSON has no other way.
///
/// Quotes, backslashes, tabs and line ends have two characters each: `\"`, `\\`, `\t`, `\n`, `\r`.
public struct JSONEscaping: Sendable {
  /// Whether a character is written as `\u` and four digits, or twice that.
  let isEscaped: @Sendable (Unicode.Scalar) -> Bool

  /// The digit for ten, of which there are two in use.
  let digitTen: UInt8

  /// Escapes control characters, and more.
  ///
  /// - Parameters:
  ///   - capitals: Whether the hexadecimal digits are capital letters.
  ///   - isEscaped: Whether a character is written as a number; control characters are anyhow.
  public init(capitals: Bool, _ isEscaped: @escaping @Sendable (Unicode.Scalar) -> Bool) {
    self.isEscaped = isEscaped
    digitTen = capitals ? UInt8(ascii: "A") : UInt8(ascii: "a")
  }

  /// Escapes all that is not printable ASCII, with small letters.
  public static let ascii = JSONEscaping(capitals: false) { !(" "..."~").contains($0) }
}
