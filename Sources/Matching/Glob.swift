public import Bytes

/// A pattern in which `*` matches any text, `?` one character, and `[a-z]` or `[!a-z]` one character of a class; `\`
/// escapes the next character, also in a class.
///
/// It matches a whole text, in time proportional to the product of both lengths in the worst case. A byte that is not
/// UTF-8 counts as one character, which only inverted classes match.
public struct Glob: Hashable, Sendable {
  private enum Element: Hashable {
    case anyText
    case anyScalar
    case scalar(Unicode.Scalar)
    case oneOf([ClosedRange<Unicode.Scalar>], inverted: Bool)
  }

  private let elements: [Element]

  /// The literal text at the beginning of the pattern; `nil` if there is none.
  public var beginning: String? {
    var scalars = String.UnicodeScalarView()
    for case .scalar(let scalar) in elements.prefix(while: {
      if case .scalar = $0 { true } else { false }
    }) {
      scalars.append(scalar)
    }
    return scalars.isEmpty ? nil : String(scalars)
  }

  /// The pattern, for people.
  public var pattern: String {
    var scalars = String.UnicodeScalarView()
    func append(_ scalar: Unicode.Scalar, escaping special: String) {
      if special.unicodeScalars.contains(scalar) { scalars.append("\\") }
      scalars.append(scalar)
    }
    for element in elements {
      switch element {
      case .anyText: scalars.append("*")
      case .anyScalar: scalars.append("?")
      case .scalar(let scalar): append(scalar, escaping: "*?[\\")
      case .oneOf(let ranges, let inverted):
        scalars.append(contentsOf: (inverted ? "[!" : "[").unicodeScalars)
        for range in ranges {
          append(range.lowerBound, escaping: "]!^-\\")
          guard range.lowerBound < range.upperBound else { continue }
          scalars.append("-")
          append(range.upperBound, escaping: "]!^-\\")
        }
        scalars.append("]")
      }
    }
    return String(scalars)
  }

  /// Creates a pattern; `nil` if a class is unclosed or empty.
  public init?(_ pattern: String) {
    var elements: [Element] = []
    var rest = Array(pattern.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      // `**` means the same as `*`, but each would be another place to backtrack to.
      case "*": if elements.last != .anyText { elements.append(.anyText) }
      case "?": elements.append(.anyScalar)
      case "\\": elements.append(.scalar(rest.popFirst() ?? "\\"))
      case "[":
        // POSIX shells write `!`; bash, zsh and regular expressions also `^`.
        let inverted = rest.first == "!" || rest.first == "^"
        if inverted { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        // A `]` directly after the opening bracket is a member of the class.
        while rest.first != "]" || ranges.isEmpty {
          guard let first = Self.member(&rest) else { return nil }
          var afterDash = rest.dropFirst()
          if rest.first == "-", afterDash.first != "]", let last = Self.member(&afterDash),
            first <= last
          {
            ranges.append(first...last)
            rest = afterDash
          } else {
            ranges.append(first...first)
          }
        }
        rest.removeFirst()
        elements.append(.oneOf(ranges, inverted: inverted))
      default: elements.append(.scalar(scalar))
      }
    }
    self.elements = elements
  }

  /// Removes one member of a class, possibly escaped by `\`.
  private static func member(_ rest: inout ArraySlice<Unicode.Scalar>) -> Unicode.Scalar? {
    guard let scalar = rest.popFirst() else { return nil }
    return scalar == "\\" ? rest.popFirst() : scalar
  }

  /// Whether the whole `text` matches.
  public func matches(_ text: ByteString) -> Bool {
    let bytes = text.bytes
    var position = 0
    var element = 0
    // Where to continue after the last `*`, which then matches one more character. No recursion: hostile text cannot
    // cause exponential time.
    var retry: (element: Int, position: Int)?
    while position < bytes.count {
      if element < elements.count {
        if case .anyText = elements[element] {
          element += 1
          retry = (element, position)
          continue
        }
        let (scalar, length) = bytes.scalar(at: position)
        if Self.matches(elements[element], scalar) {
          element += 1
          position += length
          continue
        }
      }
      // Only the last `*` needs to be tried again: whatever an earlier one could match, the last
      // one can match as well.
      guard let last = retry else { return false }
      (element, position) = last
      position += bytes.scalar(at: position).length
      retry = (element, position)
    }
    return elements[element...].allSatisfy { $0 == .anyText }
  }

  private static func matches(_ element: Element, _ scalar: Unicode.Scalar?) -> Bool {
    switch element {
    case .anyText: return false
    case .anyScalar: return true
    case .scalar(let other): return other == scalar
    case .oneOf(let ranges, let inverted):
      // An inverted class means "anything but these", and a broken byte is none of these.
      guard let scalar else { return inverted }
      return ranges.contains { $0.contains(scalar) } != inverted
    }
  }
}
