/// The directives of the `Cache-Control` fields of a message (RFC 9111 §5.2).
///
/// Several lines are one list. Each is split on its own, so that a quotation mark that one leaves
/// open does not swallow the next.
public struct CacheControl: Hashable, Sendable {
  /// The known directives in their order; a repeated one is here repeatedly.
  public private(set) var directives: [CacheDirective] = []

  /// The members of the list whose directive is not known, verbatim. They are ignored
  /// (RFC 9111 §5.2.3).
  public private(set) var unknown: [[UInt8]] = []

  /// The members of the list that do not start with a name, verbatim.
  public private(set) var malformed: [[UInt8]] = []

  /// The text from a quotation mark on that nothing closes, for each line that has one.
  public private(set) var unclosed: [[UInt8]] = []

  /// Whether the message has such a field.
  public private(set) var isPresent = false

  /// Reads the `Cache-Control` lines of a header section (RFC 9111 §5.2).
  public init(_ fields: FieldSection) {
    let lines = fields.lines.span
    for index in lines.indices where FieldName.cacheControl.matches(lines[index].name) {
      isPresent = true
      let list = ListMembers(lines[index].value)
      for member in list.members { append(member) }
      if let rest = list.unclosed { recover(from: rest) }
    }
  }

  private mutating func append(_ member: ArraySlice<UInt8>) {
    let name = member.prefix(while: \.isTokenCharacter)
    if name.isEmpty {
      malformed.append(Array(member))
    } else if let known = CacheDirective.Name(name) {
      let argument = CacheDirective.argument(member[name.endIndex...])
      directives.append(CacheDirective(name: known, argument: argument))
    } else {
      unknown.append(Array(member))
    }
  }

  /// Finds the directives that forbid something in what an open quotation mark has swallowed: in
  /// doubt they were meant.
  private mutating func recover(from text: ArraySlice<UInt8>) {
    unclosed.append(Array(text))
    for word in text.split(whereSeparator: { !$0.isTokenCharacter }) {
      guard let name = CacheDirective.Name(word) else { continue }
      if [.noStore, .noCache, .mustRevalidate].contains(name) {
        directives.append(CacheDirective(name: name, argument: nil))
      }
    }
  }

  /// Whether a directive is there, with or without an argument (RFC 9111 §5.2).
  public func contains(_ name: CacheDirective.Name) -> Bool {
    directives.contains { $0.name == name }
  }

  /// The first directive of a name, which is the one that counts (RFC 9111 §4.2.1).
  public func first(_ name: CacheDirective.Name) -> CacheDirective? {
    directives.first { $0.name == name }
  }

  /// The seconds that the first directive of a name gives, or `nil` if there is none
  /// (RFC 9111 §1.2.2, §4.2.1).
  public func seconds(_ name: CacheDirective.Name) -> DeltaSeconds? {
    guard let directive = first(name) else { return nil }
    switch directive.argument {
    case nil: return .invalid([])
    case .malformed(let text): return .invalid(text)
    case .token(let text), .quoted(let text): return DeltaSeconds(text)
    }
  }

  /// The directives that are repeated with another argument than the first has (RFC 9111 §4.2.1).
  public var contradictory: [CacheDirective] {
    if directives.count < 2 { return [] }
    let firsts = Dictionary(directives.map { ($0.name, $0) }) { first, _ in first }
    return directives.filter { firsts[$0.name]?.argument != $0.argument }
  }
}
