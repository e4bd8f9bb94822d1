import Bytes

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
      read(lines[index].value.span)
    }
  }

  /// Calls `body` with the name and the argument of each known directive of a line, but for what a quotation mark
  /// that is left open has swallowed.
  static func forEachDirective(
    in line: Span<UInt8>, _ body: (CacheDirective.Name, _ argument: Span<UInt8>) -> Void
  ) {
    _ = ListMembers.forEachMember(of: line) { range in
      let member = line.extracting(range)
      let length = member.tokenLength
      guard let name = CacheDirective.Name(member.extracting(first: length)) else { return }
      body(name, member.extracting(droppingFirst: length))
    }
  }

  /// Reads the next line (RFC 9111 §5.2).
  private mutating func read(_ line: Span<UInt8>) {
    isPresent = true
    let openQuote = ListMembers.forEachMember(of: line) { append(line.extracting($0)) }
    if let openQuote { recover(from: Array(copying: line.extracting(openQuote...))) }
  }

  private mutating func append(_ member: Span<UInt8>) {
    let length = member.tokenLength
    if length == 0 {
      oddities.append(.malformed(Array(copying: member)))
    } else if let known = CacheDirective.Name(member.extracting(first: length)) {
      append(known, CacheDirective.argument(member.extracting(droppingFirst: length)))
    } else {
      oddities.append(.unknown(Array(copying: member)))
    }
  }

  private mutating func append(_ name: CacheDirective.Name, _ argument: CacheDirective.Argument?) {
    // Most have one or two, and an array that grows is copied.
    if directives.isEmpty { directives.reserveCapacity(3) }
    directives.append(CacheDirective(name: name, argument: argument))
    names |= name.bit
  }

  /// Finds the directives that forbid something in what an open quotation mark has swallowed: in
  /// doubt they were meant.
  private mutating func recover(from text: [UInt8]) {
    oddities.append(.unclosed(text))
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
    first(name).map { CacheDirective.seconds($0.argument) }
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
