import Bytes

/// The defaults for a command line. Environment variables override files, and the first file overrides the second; in
/// each of them, settings of a cache override settings for all caches.
public struct Configuration: Sendable {
  /// A value with its origin.
  public struct Value: Hashable, Sendable {
    /// The origin of a value.
    public enum Origin: Hashable, Sendable {
      case variable(String)
      case file(ConfigurationPlace)
      case builtIn
    }

    /// The value, in the syntax of the option with the same name.
    public let text: String
    /// The origin.
    public let origin: Origin

    /// Creates a value.
    public init(text: String, origin: Origin) { (self.text, self.origin) = (text, origin) }
  }

  /// The files; that of the user comes first.
  public let files: [ConfigurationFile]
  private let variables: [Setting: String]
  /// The names of caches with known paths, without duplicates, in the order of the files.
  public let cacheNames: [String]
  /// The other names of caches that have several.
  public var otherNames: [String: [String]] = [:]

  /// Creates a configuration.
  ///
  /// - Parameter variable: Returns an environment variable.
  public init(files: [ConfigurationFile] = [], variable: (String) -> String? = { _ in nil }) {
    self.files = files
    // Once: messages about each of thousands of caches look for similar names.
    var names: [String] = []
    var seen: Set<String> = []
    for file in files {
      for cache in file.caches where seen.insert(cache.name).inserted {
        if files.contains(where: { $0.cache(named: cache.name)?.path != nil }) {
          names.append(cache.name)
        }
      }
    }
    cacheNames = names
    variables = Setting.allCases.reduce(into: [:]) { result, setting in
      // An empty variable counts as not set, as in the XDG Base Directory Specification.
      if let text = variable(setting.variable), !text.isEmpty { result[setting] = text }
    }
  }

  /// Returns the value of a setting; `nil` if it has none.
  ///
  /// - Parameter name: The name of the cache that the command works on, if it has one.
  public func value(of setting: Setting, forCache name: String?) -> Value? {
    let settings = setting == .capacity ? [.capacity, .preset] : [setting]
    for given in settings {
      if let text = variables[given] {
        return Value(
          text: Self.text(text, of: given, as: setting), origin: .variable(given.variable))
      }
    }
    for file in files {
      let cache = file.cache(named: name)
      // Within a file, the section of a cache is more specific. Across files, the user's whole file
      // comes first, as a user could otherwise not override a section of the system's.
      for values in [cache?.settings ?? [:], file.settings] {
        guard let given = settings.first(where: { values[$0] != nil }), let value = values[given]
        else { continue }
        return Value(
          text: Self.text(value.text, of: given, as: setting), origin: .file(value.place))
      }
    }
    return setting.builtIn.map { Value(text: $0, origin: .builtIn) }
  }

  /// Returns the text of a setting given by another setting: a preset gives a capacity.
  private static func text(_ text: String, of given: Setting, as setting: Setting) -> String {
    guard given != setting, let preset = CapacityPreset(rawValue: text) else { return text }
    return "\(preset.diskBytes.bytes)"
  }

  /// Returns the path of a named cache; `nil` if no cache has the name.
  public func path(ofCache name: String) -> Value? {
    for file in files {
      if let path = file.cache(named: name)?.path {
        return Value(text: path.text, origin: .file(path.place))
      }
    }
    return nil
  }

  /// The paths of caches that have pins and no name, without duplicates.
  public var pinnedPaths: [String] {
    var seen: Set<String> = []
    return files.flatMap(\.caches).filter(\.isPath).map(\.name).filter { seen.insert($0).inserted }
  }

  /// Returns the rules for a cache, in the order in which they are tried: of each file, first what is kept by its other names
  /// in ``otherNames``, then the rules for the cache, then those for all caches.
  ///
  /// - Parameter name: The name of the cache, if it has one.
  public func rules(forCache name: String?) -> [EntryRule] {
    let others = name.flatMap { otherNames[$0] } ?? []
    var rules: [EntryRule] = []
    for file in files {
      for other in others {
        rules += (file.cache(named: other)?.rules ?? []).filter { $0.action == .keep }
      }
      rules += file.cache(named: name)?.rules ?? []
      rules += file.rules
    }
    return rules
  }

  /// All errors in the files.
  public var errors: [ConfigurationError] {
    let errors = files.flatMap(\.errors)
    // Report missing paths only without other errors: an invalid path also looks missing.
    return errors.isEmpty
      ? cachesWithoutPath.map { cache in
        ConfigurationError(
          "the cache '\(cache.name)' has no path", at: cache.place,
          hint: "write 'path = \"/…\"' below '[caches.\(cache.name)]', or remove the section")
      } : errors
  }

  // The system's file may define the path and the user's file some settings, or the other way
  // round, so all files are searched.
  /// The sections of caches without a path in any file: their settings would have no effect.
  public var cachesWithoutPath: [ConfigurationFile.NamedCache] {
    let withPath = Set(files.flatMap(\.caches).filter(\.hasPath).map(\.name))
    return files.flatMap(\.caches).filter { !$0.isPath && !withPath.contains($0.name) }
  }
}

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
