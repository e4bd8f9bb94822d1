/// The directives of the `Cache-Control` fields of a message (RFC 9111 §5.2).
///
/// Several lines are one list. Each is split on its own, so that a quotation mark that one leaves
/// open does not swallow the next.
public struct CacheControl: Hashable, Sendable {
  /// The known directives in their order; a repeated one is here repeatedly.
  public private(set) var directives: [CacheDirective] = []

  /// Whether the message has such a field.
  public private(set) var isPresent = false

  /// A bit for each directive that is there, as most are asked for and few are there.
  private var names: UInt32 = 0

  /// What is no known directive, in its order: one list, as there hardly ever is any.
  private var oddities: [Oddity] = []

  private enum Oddity: Hashable, Sendable {
    case unknown([UInt8])
    case malformed([UInt8])
    case unclosed([UInt8])
  }

  /// Reads the `Cache-Control` lines of a header section (RFC 9111 §5.2).
  public init(_ fields: FieldSection) {
    let lines = fields.lines.span
    for index in lines.indices where lines[index].known == .cacheControl {
      isPresent = true
      let list = ListMembers(lines[index].value)
      for member in list.members { append(member) }
      if let rest = list.unclosed { recover(from: rest) }
    }
  }

  private mutating func append(_ member: ArraySlice<UInt8>) {
    let name = member.prefix(while: \.isTokenCharacter)
    if name.isEmpty {
      oddities.append(.malformed(Array(member)))
    } else if let known = CacheDirective.Name(name.span) {
      append(known, CacheDirective.argument(member[name.endIndex...]))
    } else {
      oddities.append(.unknown(Array(member)))
    }
  }

  private mutating func append(_ name: CacheDirective.Name, _ argument: CacheDirective.Argument?) {
    directives.append(CacheDirective(name: name, argument: argument))
    names |= name.bit
  }

  /// Finds the directives that forbid something in what an open quotation mark has swallowed: in
  /// doubt they were meant.
  private mutating func recover(from text: ArraySlice<UInt8>) {
    oddities.append(.unclosed(Array(text)))
    for word in text.split(whereSeparator: { !$0.isTokenCharacter }) {
      guard let name = CacheDirective.Name(word.span) else { continue }
      if [.noStore, .noCache, .mustRevalidate].contains(name) { append(name, nil) }
    }
  }

  /// The members of the list whose directive is not known, verbatim. They are ignored
  /// (RFC 9111 §5.2.3).
  public var unknown: [[UInt8]] {
    oddities.compactMap { if case .unknown(let text) = $0 { text } else { nil } }
  }

  /// The members of the list that do not start with a name, verbatim.
  public var malformed: [[UInt8]] {
    oddities.compactMap { if case .malformed(let text) = $0 { text } else { nil } }
  }

  /// The text from a quotation mark on that nothing closes, for each line that has one.
  public var unclosed: [[UInt8]] {
    oddities.compactMap { if case .unclosed(let text) = $0 { text } else { nil } }
  }

  /// Whether all members are known directives.
  var isRegular: Bool { oddities.isEmpty }

  /// Whether a directive is there, with or without an argument (RFC 9111 §5.2).
  public func contains(_ name: CacheDirective.Name) -> Bool {
    names & name.bit != 0
  }

  /// The first directive of a name, which is the one that counts (RFC 9111 §4.2.1).
  public func first(_ name: CacheDirective.Name) -> CacheDirective? {
    guard contains(name) else { return nil }
    // A loop over the array would hold on to each argument.
    let directives = directives.span
    for index in directives.indices where directives[index].name == name {
      return directives[index]
    }
    return nil
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
    // Nearly always each is there once.
    if directives.count == names.nonzeroBitCount { return [] }
    let firsts = Dictionary(directives.map { ($0.name, $0) }) { first, _ in first }
    return directives.filter { firsts[$0.name]?.argument != $0.argument }
  }
}

extension CacheDirective.Name {
  /// The bit that stands for the directive in a set of them.
  fileprivate var bit: UInt32 { 1 << UInt32(place) }
}
