/// What a response says it was chosen by (RFC 9110 §12.5.5).
public enum Vary: Hashable, Sendable {
  /// By the target URI alone: there is no `Vary`, or an empty one.
  case nothing

  /// By the named request fields, in the order in which they are first named.
  case fields([FieldName])

  /// By more than the request: there is a `*` among the members.
  case anything

  /// Reads all `Vary` lines of a response (RFC 9110 §12.5.5).
  public init(_ fields: FieldSection) {
    var members: [ArraySlice<UInt8>] = []
    let lines = fields.lines.span
    for index in lines.indices where lines[index].known == .vary {
      members += ListMembers(lines[index].value).members
    }
    if members.contains(where: { $0.count == 1 && $0.first == UInt8(ascii: "*") }) {
      self = .anything
    } else if members.isEmpty {
      self = .nothing
    } else {
      self = .fields(Self.distinct(members.map { FieldName(Array($0)) }))
    }
  }
}

extension Vary {
  /// The names in the order in which they first come.
  private static func distinct(_ names: [FieldName]) -> [FieldName] {
    // Of a few, each is compared with all others; a hostile response names very many.
    if names.count <= 8 {
      return names.indices.compactMap { place in
        names[..<place].contains(names[place]) ? nil : names[place]
      }
    }
    var known: Set<FieldName> = []
    return names.filter { known.insert($0).inserted }
  }
}

/// Whether a stored response was chosen by what a request presents (RFC 9111 §4.1).
public enum VaryMatch: Hashable, Sendable {
  /// The response does not vary.
  case nothingNominated

  /// All nominated fields match.
  case matches([FieldName])

  /// `Vary: *` never matches.
  case never

  /// Nominated fields differ; the others match.
  case differs([Difference])

  /// The nominated fields of the request that the response answered are not stored.
  case unknown([FieldName])

  /// A nominated field that differs.
  public struct Difference: Hashable, Sendable {
    /// The field.
    public let name: FieldName

    /// Its value in the request that the response answered, lines joined; `nil` if it was absent.
    public let stored: [UInt8]?

    /// Its value in the presented request, lines joined; `nil` if it is absent.
    public let presented: [UInt8]?
  }

  /// Compares the nominated fields (RFC 9111 §4.1).
  ///
  /// A field that is absent matches only one that is absent. Repeated lines are joined, white space
  /// around commas does not count, case and order do.
  ///
  /// - Parameters:
  ///   - exchange: What is stored. Its `Vary` record counts before the fields of its request, which
  ///     may lack what was added on the way out.
  ///   - presented: The fields of the presented request.
  public init(_ exchange: borrowing Exchange, presented: FieldSection) {
    switch exchange.vary {
    case .nothing: self = .nothingNominated
    case .anything: self = .never
    case .fields(let names):
      guard let stored = exchange.varyRecord ?? exchange.request?.fields else {
        self = .unknown(names)
        return
      }
      let differences: [Difference] = names.compactMap { name in
        // Most requests repeat the stored one.
        if stored.values(of: name) == presented.values(of: name) { return nil }
        let stored = stored.joinedValue(of: name)
        let presented = presented.joinedValue(of: name)
        return stored == presented
          ? nil : Difference(name: name, stored: stored, presented: presented)
      }
      self = differences.isEmpty ? .matches(names) : .differs(differences)
    }
  }
}

extension FieldSection {
  /// The lines of a field as one list, without white space around its commas; `nil` if there is no
  /// line (RFC 9110 §5.3, RFC 9111 §4.1).
  func joinedValue(of name: FieldName) -> [UInt8]? {
    let values = values(of: name)
    guard !values.isEmpty else { return nil }
    let members = values.flatMap { ListMembers($0).members }
    return Array(members.joined(separator: [UInt8(ascii: ",")]))
  }
}
