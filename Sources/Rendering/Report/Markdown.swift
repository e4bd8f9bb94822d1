import Bytes

/// A piece of GitHub Flavored Markdown in which only string literals of the source are markup.
///
/// Literals are `StaticString` and are used unchanged. Everything interpolated is escaped text, code, or `Markdown`
/// itself.
struct Markdown: Hashable, Sendable {
  /// The bytes, which are UTF-8.
  private(set) var bytes: [UInt8] = []

  /// Appends another piece.
  static func += (text: inout Markdown, other: Markdown) {
    text.bytes += other.bytes
  }
}

extension Markdown: ExpressibleByStringInterpolation {
  init(stringLiteral value: StaticString) {
    bytes = Array(value.description.utf8)
  }

  init(stringInterpolation: Interpolation) {
    bytes = stringInterpolation.text.bytes
  }

  /// Collects the segments of a literal.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = Markdown()

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: StaticString) {
      text.bytes += literal.description.utf8
    }

    mutating func appendInterpolation(_ markdown: Markdown) {
      text += markdown
    }

    /// Appends words of this tool, with potential markup escaped.
    mutating func appendInterpolation(_ words: String) {
      for byte in HostileText.shown(ByteString(words)).bytes {
        // A backslash before any ASCII punctuation makes it literal (CommonMark 0.31 §2.4).
        if Self.isMarkup(byte) { text.bytes.append(UInt8(ascii: "\\")) }
        text.bytes.append(byte)
      }
    }

    /// Appends text from a cache as code, in which nothing is markup and nothing becomes a link.
    ///
    /// - Parameter isCell: Whether the text is in a table, where a `|` ends a cell even in code.
    mutating func appendInterpolation(code: ByteString, isCell: Bool = true) {
      let shown = HostileText.shown(code).bytes
      // A fence longer than any run of backticks in the text cannot be closed by the text.
      let fence = Array(repeating: UInt8(ascii: "`"), count: Self.longestRun(in: shown) + 1)
      // Markdown strips one space at each end, which allows code to begin with a backtick.
      text.bytes += fence + [UInt8(ascii: " ")]
      for byte in shown {
        if isCell, byte == UInt8(ascii: "|") { text.bytes.append(UInt8(ascii: "\\")) }
        text.bytes.append(byte)
      }
      text.bytes += [UInt8(ascii: " ")] + fence
    }

    private static func isMarkup(_ byte: UInt8) -> Bool {
      // `<` and `&` as well, since Markdown passes HTML and entities through.
      "\\`*_{}[]<>#|~&!".utf8.contains(byte)
    }

    /// The length of the longest run of backticks.
    private static func longestRun(in bytes: [UInt8]) -> Int {
      var (longest, run) = (0, 0)
      for byte in bytes {
        run = byte == UInt8(ascii: "`") ? run + 1 : 0
        longest = max(longest, run)
      }
      return longest
    }
  }
}
