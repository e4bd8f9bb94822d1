import Bytes

/// The directives of the `Cache-Control` fields of a message (RFC 9111 §5.2).
///
/// Several lines form one list. Each line is split separately, so that an unclosed quotation mark does not swallow the
/// next line.
public struct CacheControl: Hashable, Sendable {
  /// The known directives in order, including repeated ones.
  public private(set) var directives: [CacheDirective] = []

  /// Whether the message has a `Cache-Control` field.
  public private(set) var isPresent = false

  /// A bit for each directive that is present: many directives are looked up, and few are present.
  private var names: UInt32 = 0

  /// Members that are not known directives, in order. They are so rare that one list is enough.
  private var findings: [Finding] = []

  private enum Finding: Hashable, Sendable {
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

  /// Calls `body` with the name and the argument of each known directive of a line, except those swallowed by an
  /// unclosed quotation mark.
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

  /// Reads one line (RFC 9111 §5.2).
  private mutating func read(_ line: Span<UInt8>) {
    isPresent = true
    let openQuote = ListMembers.forEachMember(of: line) { append(line.extracting($0)) }
    if let openQuote { recover(from: Array(copying: line.extracting(openQuote...))) }
  }

  private mutating func append(_ member: Span<UInt8>) {
    let length = member.tokenLength
    if length == 0 {
      findings.append(.malformed(Array(copying: member)))
    } else if let known = CacheDirective.Name(member.extracting(first: length)) {
      append(known, CacheDirective.argument(member.extracting(droppingFirst: length)))
    } else {
      findings.append(.unknown(Array(copying: member)))
    }
  }

  private mutating func append(_ name: CacheDirective.Name, _ argument: CacheDirective.Argument?) {
    // Most messages have one or two directives, and growing an array copies it.
    if directives.isEmpty { directives.reserveCapacity(3) }
    directives.append(CacheDirective(name: name, argument: argument))
    // Looking a directive up in the array takes a comparison for each member, and ten directives
    // are asked for in a response.
    names |= name.bit
  }

  /// Finds the directives that an unclosed quotation mark swallowed and that restrict caching: it is safer to assume
  /// that they were meant.
  private mutating func recover(from text: [UInt8]) {
    findings.append(.unclosed(text))
    for word in text.split(whereSeparator: { !$0.isTokenCharacter }) {
      guard let name = CacheDirective.Name(word.span) else { continue }
      // `max-age` and `public` are not recovered: a response that is wrongly kept from use only
      // costs a request.
      if [.noStore, .noCache, .mustRevalidate].contains(name) { append(name, nil) }
    }
  }

  /// The list members with an unknown directive, verbatim. They are ignored (RFC 9111 §5.2.3).
  public var unknown: [[UInt8]] {
    findings.compactMap { if case .unknown(let text) = $0 { text } else { nil } }
  }

  /// The list members that do not begin with a name, verbatim.
  public var malformed: [[UInt8]] {
    findings.compactMap { if case .malformed(let text) = $0 { text } else { nil } }
  }

  /// The text after each unclosed quotation mark, including the mark.
  public var unclosed: [[UInt8]] {
    findings.compactMap { if case .unclosed(let text) = $0 { text } else { nil } }
  }

  /// Whether all members are known directives.
  var isRegular: Bool { findings.isEmpty }

  /// Whether a directive is present, with or without an argument (RFC 9111 §5.2).
  public func contains(_ name: CacheDirective.Name) -> Bool {
    names & name.bit != 0
  }

  /// The first directive with a name. If a directive is repeated, the first one applies (RFC 9111 §4.2.1).
  public func first(_ name: CacheDirective.Name) -> CacheDirective? {
    guard contains(name) else { return nil }
    // Iterating over the array would retain and release each argument.
    let directives = directives.span
    for index in directives.indices where directives[index].name == name {
      return directives[index]
    }
    return nil
  }

  /// The seconds of the first directive with a name, or `nil` if the directive is absent (RFC 9111 §1.2.2, §4.2.1).
  public func seconds(_ name: CacheDirective.Name) -> DeltaSeconds? {
    first(name).map { CacheDirective.seconds($0.argument) }
  }

  /// The repeated directives whose argument differs from that of the first (RFC 9111 §4.2.1).
  public var contradictory: [CacheDirective] {
    // Directives are almost never repeated.
    if directives.count == names.nonzeroBitCount { return [] }
    // Other caches differ here: Chromium and WebKit use the first of two values, OkHttp and Apache
    // the last.
    let firsts = Dictionary(directives.map { ($0.name, $0) }) { first, _ in first }
    return directives.filter { firsts[$0.name]?.argument != $0.argument }
  }
}

extension CacheDirective.Name {
  /// The bit of the directive in a set.
  fileprivate var bit: UInt32 { 1 << UInt32(place) }
}
