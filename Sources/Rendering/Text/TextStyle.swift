/// What text may look like where it is shown: a terminal has colors, and some terminals have only ASCII.
public struct TextStyle: Hashable, Sendable {
  /// Whether to use colors and bold text.
  public var isColored: Bool

  /// Whether bars and ellipses are drawn in ASCII.
  public var isASCII: Bool

  /// The width of the terminal, in columns; `nil` elsewhere.
  public var columns: Int?

  /// Creates a style; by default, plain text in UTF-8.
  public init(isColored: Bool = false, isASCII: Bool = false) {
    self.isColored = isColored
    self.isASCII = isASCII
  }

  /// Returns the width for text that may be cut, after other text on the line.
  ///
  /// - Parameters:
  ///   - widest: The width where there is no terminal.
  ///   - indent: The width of the other text.
  func width(_ widest: Int, after indent: Int) -> Int {
    columns.map { min(widest, max(20, $0 - indent)) } ?? widest
  }

  /// Returns the mark for text that was left out, at most `limit` columns wide.
  func ellipsis(atMost limit: Int) -> [UInt8] {
    guard limit > 0 else { return [] }
    return isASCII ? Array("...".utf8.prefix(limit)) : Array("…".utf8)
  }
}

/// What a part of the text is, which decides about its color.
///
/// Only the 16 basic colors are used, because terminals adapt them to a dark or a light background.
public enum Emphasis: Hashable, Sendable {
  case heading
  case fresh
  case stale
  case noLifetime
  case error
  case warning
  case hint

  /// The parameters of the control sequence "Select Graphic Rendition" (ECMA-48).
  fileprivate var parameters: String {
    switch self {
    case .heading: "1"
    case .fresh: "32"
    case .stale: "31"
    case .noLifetime: "90"
    case .error: "1;31"
    case .warning: "33"
    case .hint: "2"
    }
  }
}

extension TextBuffer {
  /// Appends what `body` appends, with the color of `emphasis` if the style has colors.
  public mutating func append(
    as emphasis: Emphasis?, _ body: (inout TextBuffer) -> Void
  ) {
    guard style.isColored, let emphasis else { return body(&self) }
    append("\u{1B}[\(emphasis.parameters)m")
    body(&self)
    append("\u{1B}[0m")
  }

  /// Appends text without escaping, with the color of `emphasis` if the style has colors.
  public mutating func append(_ text: String, as emphasis: Emphasis?) {
    append(as: emphasis) { $0.append(text) }
  }
}

extension TextStyle {
  /// Returns text with the color of `emphasis`, if the style has colors.
  public func text(_ text: String, as emphasis: Emphasis) -> String {
    isColored ? "\u{1B}[\(emphasis.parameters)m\(text)\u{1B}[0m" : text
  }
}
