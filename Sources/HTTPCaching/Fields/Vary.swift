/// The request fields by which a response was selected (RFC 9110 §12.5.5).
public enum Vary: Hashable, Sendable {
  /// The target URI alone: `Vary` is absent or empty.
  case nothing

  /// The named request fields, in the order of their first mention.
  case fields([FieldName])

  /// More than the request: a member is `*`.
  case anything

  /// Reads all `Vary` lines of a response (RFC 9110 §12.5.5).
  public init(_ fields: FieldSection) {
    var members: [ArraySlice<UInt8>] = []
    let lines = fields.lines.span
    for index in lines.indices where lines[index].known == .vary {
      members += ListMembers(lines[index].value).members
    }
    // A single `*` means that no request matches, whatever else is named (RFC 9110 §12.5.5).
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
  /// The names without duplicates, in order.
  private static func distinct(_ names: [FieldName]) -> [FieldName] {
    // A few names are compared pairwise. A hostile response may name very many, so those use a set.
    if names.count <= 8 {
      return names.indices.compactMap { place in
        names[..<place].contains(names[place]) ? nil : names[place]
      }
    }
    var known: Set<FieldName> = []
    return names.filter { known.insert($0).inserted }
  }
}

/// Whether a request matches the one that selected a stored response (RFC 9111 §4.1).
public enum VaryMatch: Hashable, Sendable {
  /// The response does not vary.
  case nothingNominated

  /// All nominated fields match.
  case matches([FieldName])

  /// The response has `Vary: *`, which never matches.
  case never

  /// Nominated fields differ; the others match.
  case differs([Difference])

  /// The cache has not stored the nominated fields of the original request.
  case unknown([FieldName])

  /// A nominated field that differs.
  public struct Difference: Hashable, Sendable {
    /// The field.
    public let name: FieldName

    /// Its value in the original request, with lines joined; `nil` if it was absent.
    public let stored: [UInt8]?

    /// Its value in the presented request, with lines joined; `nil` if it is absent.
    public let presented: [UInt8]?
  }

  /// Compares the nominated fields (RFC 9111 §4.1).
  ///
  /// An absent field only matches an absent field. Repeated lines are joined. White space around commas is ignored;
  /// case and order are not.
  ///
  /// - Parameters:
  ///   - exchange: The stored exchange. Its `Vary` record takes precedence over the fields of its request, which may
  ///     lack fields that were added when the request was sent.
  ///   - presented: The fields of the presented request.
  public init(_ exchange: borrowing Exchange, presented: FieldSection) {
    switch exchange.vary {
    case .nothing: self = .nothingNominated
    case .anything: self = .never
    case .fields(let names):
      // CFNetwork keeps the record for this purpose. Header fields of the stored request can lack
      // those that the URL loading system adds when it sends the request, such as `Accept-Encoding`
      // and `User-Agent`.
      guard let stored = exchange.varyRecord ?? exchange.request?.fields else {
        self = .unknown(names)
        return
      }
      let (allStored, allPresented) = (
        stored.sections(with: names), presented.sections(with: names)
      )
      let differences: [Difference] = names.indices.compactMap { place in
        let (name, kept, sent) = (names[place], allStored[place], allPresented[place])
        // Most requests have the same values as the stored one.
        if kept.values(of: name) == sent.values(of: name) { return nil }
        let (stored, presented) = (kept.joinedValue(of: name), sent.joinedValue(of: name))
        return stored == presented
          ? nil : Difference(name: name, stored: stored, presented: presented)
      }
      self = differences.isEmpty ? .matches(names) : .differs(differences)
    }
  }
}

extension FieldSection {
  /// The lines of a field as one list, without white space around commas; `nil` if there is no line (RFC 9110 §5.3, RFC
  /// 9111 §4.1).
  func joinedValue(of name: FieldName) -> [UInt8]? {
    let values = values(of: name)
    guard !values.isEmpty else { return nil }
    let members = values.flatMap { ListMembers($0).members }
    // RFC 9111 §4.1 allows this normalization and leaves others, such as the order of languages, to
    // caches that know the field. Treating two requests as different is always safe.
    return Array(members.joined(separator: [UInt8(ascii: ",")]))
  }
}
