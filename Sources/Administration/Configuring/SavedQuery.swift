import Bytes

/// A named query for `list`.
public struct SavedQuery: Sendable {
  /// The name.
  public let name: String
  /// The place of the declaration.
  public let place: ConfigurationPlace
  /// The expressions, one of which must be true; empty to select all entries.
  public internal(set) var conditions: [ConfigurationFile.Value] = []
  // Columns and orders are words of the renderer and the command line, which are above this module.
  // `list` validates them when it uses the query.
  /// The order, in the syntax of `--sort`; not validated, except that it is text.
  public internal(set) var sort: ConfigurationFile.Value?
  /// The columns, in the syntax of `--columns`; not validated, except that they are text.
  public internal(set) var columns: ConfigurationFile.Value?

  init(name: String, at place: ConfigurationPlace) { (self.name, self.place) = (name, place) }
}

extension ConfigurationFile {
  /// Reads the tables of saved queries.
  mutating func queries(_ member: TOMLTable.Member) -> [SavedQuery] {
    guard case .table(let table) = member.value.content else {
      append("'saved' must contain tables", at: member.range, hint: "write '[saved.NAME]'")
      return []
    }
    return table.members.compactMap { query($0) }
  }

  private mutating func query(_ member: TOMLTable.Member) -> SavedQuery? {
    guard let name = member.key.string, Self.isName(member.key) else {
      append(
        "invalid name for a saved query", at: member.range,
        hint: "use letters, digits, '.', '_' and '-'")
      return nil
    }
    guard case .table(let table) = member.value.content else {
      append("a saved query must be a table", at: member.range, hint: "write '[saved.\(name)]'")
      return nil
    }
    var query = SavedQuery(name: name, at: text.place(of: member.value.range))
    for member in table.members {
      switch member.key {
      case "where": query.conditions = conditions(member.value)
      case "sort": query.sort = value(member.value)
      case "columns": query.columns = value(member.value)
      default: refuse(member, among: ["where", "sort", "columns"])
      }
    }
    if table.members.isEmpty {
      append(
        "the saved query is empty", at: member.value.range,
        hint: "add 'where', 'sort' or 'columns'")
    }
    return query
  }

  /// Reads an expression or an array of expressions; an empty array is an error, because it would select nothing.
  private mutating func conditions(_ value: TOMLValue) -> [Value] {
    var values = [value]
    if case .array(let items) = value.content {
      values = items
      if items.isEmpty { append("the array is empty, so it would match nothing", at: value.range) }
    }
    return values.compactMap { value in
      guard let text = text(of: value) else { return nil }
      do throws(ConditionError) { _ = try Condition(text) } catch {
        append(error, in: text, at: value.range)
        return nil
      }
      return Value(text: text, place: self.text.place(of: value.range))
    }
  }

  private mutating func value(_ value: TOMLValue) -> Value? {
    text(of: value).map { Value(text: $0, place: text.place(of: value.range)) }
  }
}

extension Configuration {
  /// The saved queries of all files; of equal names, only the first.
  public var queries: [SavedQuery] {
    var queries: [SavedQuery] = []
    for query in files.flatMap(\.queries) where !queries.contains(where: { $0.name == query.name })
    {
      queries.append(query)
    }
    return queries
  }
}
