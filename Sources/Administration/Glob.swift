/// A pattern in which `*` stands for any text, `?` for one character, and `[a-z]` or `[!a-z]` for one
/// of a class; `\` takes what follows it literally.
///
/// It matches a text from beginning to end, in time that grows with the product of both lengths at
/// worst, whatever the text is.
public struct Glob: Hashable, Sendable {
  private enum Element: Hashable {
    case anyText
    case anyScalar
    case scalar(Unicode.Scalar)
    case oneOf([ClosedRange<Unicode.Scalar>], inverted: Bool)
  }

  private let elements: [Element]

  /// Creates a pattern, or `nil` if a class is not closed or holds nothing.
  public init?(_ pattern: String) {
    var elements: [Element] = []
    var rest = Array(pattern.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": if elements.last != .anyText { elements.append(.anyText) }
      case "?": elements.append(.anyScalar)
      case "\\": elements.append(.scalar(rest.popFirst() ?? "\\"))
      case "[":
        let inverted = rest.first == "!" || rest.first == "^"
        if inverted { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let first = rest.popFirst(), first != "]" || ranges.isEmpty {
          if rest.first == "-", let last = rest.dropFirst().first, last != "]", first <= last {
            ranges.append(first...last)
            rest = rest.dropFirst(2)
          } else {
            ranges.append(first...first)
          }
          guard !rest.isEmpty else { return nil }
        }
        guard !ranges.isEmpty else { return nil }
        elements.append(.oneOf(ranges, inverted: inverted))
      default: elements.append(.scalar(scalar))
      }
    }
    self.elements = elements
  }

  /// Whether all of `text` matches.
  public func matches(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var position = 0
    var element = 0
    // Where to go on after the last `*`, which takes in one character more each time.
    var retry: (element: Int, position: Int)?
    while position < scalars.count {
      if element < elements.count, elements[element] == .anyText {
        element += 1
        retry = (element, position)
      } else if element < elements.count, Self.matches(elements[element], scalars[position]) {
        element += 1
        position += 1
      } else if let last = retry {
        retry = (last.element, last.position + 1)
        (element, position) = (last.element, last.position + 1)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { $0 == .anyText }
  }

  private static func matches(_ element: Element, _ scalar: Unicode.Scalar) -> Bool {
    switch element {
    case .anyText: false
    case .anyScalar: true
    case .scalar(let other): other == scalar
    case .oneOf(let ranges, let inverted): ranges.contains { $0.contains(scalar) } != inverted
    }
  }
}
