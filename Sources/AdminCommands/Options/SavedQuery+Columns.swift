import Administration

extension Configuration {
  /// All errors in the files, including errors in columns, which only this module can check.
  var allErrors: [ConfigurationError] { errors + columnErrors }

  private var columnErrors: [ConfigurationError] {
    files.flatMap(\.queries).flatMap { query in
      [
        query.columns.flatMap { (try? parseColumns($0.text)) == nil ? $0 : nil },
        query.sort.flatMap { (try? ResponseOrder(parsing: $0.text)) == nil ? $0 : nil },
      ].compactMap { $0 }.map { value in
        ConfigurationError(
          value.place == query.sort?.place
            ? "'\(value.text)' is not a column to sort by"
            : "'\(value.text)' is not a list of columns",
          at: value.place, hint: "use one of: \(columnNames) user-info:KEY proto-props:KEY")
      }
    }
  }

  /// Returns the saved query with a name.
  func query(named name: String) throws(CommandFailure) -> SavedQuery {
    // By bytes: two names that Unicode takes for equal are two keys in TOML.
    if let query = queries.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return query }
    let names = queries.map(\.name)
    throw .usage(
      "unknown saved query '\(printable(name))'",
      hint: names.isEmpty
        ? "add one to the configuration as '[saved.NAME]'; 'man urlcache-admin.conf' has an example"
        : "use one of: " + names.joined(separator: ", "))
  }
}
