import Bytes
import ResponseStorage

/// A parsed configuration file.
public struct ConfigurationFile: Sendable {
  /// A value with its place in the file.
  public struct Value: Hashable, Sendable {
    /// The value, in the syntax of the option with the same name.
    public let text: String
    /// The place in the file.
    public let place: ConfigurationPlace
  }

  /// A named cache.
  public struct NamedCache: Sendable {
    /// The name.
    public let name: String
    /// The path of the cache; `nil` if another file contains it.
    public var path: Value?
    /// The settings for this cache only.
    public var settings: [Setting: Value] = [:]
    /// The rules for this cache, in order.
    public var rules: [EntryRule] = []
    /// The pins for this cache only, in order.
    public var pins: [Pin] = []
    /// The place of the declaration.
    let place: ConfigurationPlace
    /// Whether the section has a path, even an invalid one.
    var hasPath = false
    /// Whether the name is the path itself, of a cache that has only pins.
    var isPath: Bool { ConfigurationFile.isPath(name) }
  }

  /// The path of the file.
  public let path: String
  /// The settings for all caches.
  public private(set) var settings: [Setting: Value] = [:]
  /// The named caches, in the order of the file.
  public private(set) var caches: [NamedCache] = []
  private var places: [String: Int] = [:]
  /// The rules for all caches, in order.
  public private(set) var rules: [EntryRule] = []
  /// The pins for all caches, in order.
  public private(set) var pins: [Pin] = []
  /// The saved queries, in the order of the file.
  public private(set) var queries: [SavedQuery] = []
  /// The errors in the file, up to ``mostErrors``; invalid values are left out of the other properties.
  public private(set) var errors: [ConfigurationError] = []

  // Every error quotes its line, and a file of 1 MiB may be a single line with thousands of errors.
  /// The maximum number of errors to report.
  private static let mostErrors = 100

  private let home: String?
  let text: ConfigurationText

  /// The bytes of the file.
  public var bytes: [UInt8] { text.bytes }

  /// Reads a file.
  ///
  /// - Parameter home: The home folder, which replaces `~` at the beginning of a path.
  public init(_ bytes: [UInt8], path: String, home: String?) {
    (self.path, self.home) = (path, home)
    text = ConfigurationText(path: path, bytes: bytes)
    do throws(TOMLError) { read(try TOMLReader.read(bytes)) } catch {
      errors.append(ConfigurationError(error.reason, at: text.place(of: error.range)))
    }
  }

  private mutating func read(_ document: TOMLTable) {
    for member in document.members {
      if let setting = setting(named: member.key) {
        if setting == .cache, case .table(let table) = member.value.content {
          let name = table.members.first?.key.string ?? "NAME"
          append(
            "'cache' is the default cache, not a table", at: member.range,
            hint: "did you mean '[caches.\(Self.isName(ByteString(name)) ? name : "NAME")]'?")
          continue
        }
        refuse(member, ifThere: settings[setting])
        refuse(member, setting, beside: settings)
        settings[setting] = value(of: setting, member.value)
      } else if member.key == "rules" {
        rules = rules(member)
      } else if member.key == "caches" {
        readCaches(member)
      } else if member.key == "pinned" {
        pins = pins(member)
      } else if member.key == "saved" {
        queries = queries(member)
      } else {
        refuse(
          member, among: Setting.allCases.map(\.rawValue) + ["caches", "pinned", "rules", "saved"])
      }
    }
  }

  private mutating func readCaches(_ member: TOMLTable.Member) {
    guard case .table(let table) = member.value.content else {
      append("'caches' must contain tables", at: member.range, hint: "write '[caches.NAME]'")
      return
    }
    for cache in table.members { readCache(cache) }
  }

  private mutating func readCache(_ member: TOMLTable.Member) {
    guard let name = member.key.string, Self.isName(member.key) || Self.isPath(name) else {
      append(
        "invalid cache name", at: member.range,
        hint: "use letters, digits, '.', '_' and '-'")
      return
    }
    guard case .table(let table) = member.value.content else {
      append("a cache must be a table", at: member.range, hint: "write '[caches.\(name)]'")
      return
    }
    var cache = NamedCache(name: name, place: text.place(of: member.value.range))
    for member in table.members {
      if cache.isPath, member.key != "pinned" {
        // It has no name, so '--all-caches' and its limits leave it alone.
        append(
          "a cache without a name can only have pins", at: member.range,
          hint: "write '[caches.NAME]' and 'path = \"\(name)\"'")
      } else if member.key == "path" {
        cache.hasPath = true
        cache.path = pathValue(member.value)
      } else if member.key == "rules" {
        cache.rules = rules(member)
      } else if member.key == "pinned" {
        cache.pins = pins(member)
      } else if let setting = setting(named: member.key), !setting.isGeneral {
        refuse(member, ifThere: cache.settings[setting])
        refuse(member, setting, beside: cache.settings)
        cache.settings[setting] = value(of: setting, member.value)
      } else {
        let names = Setting.allCases.filter { !$0.isGeneral }.map(\.rawValue)
        refuse(member, among: ["path", "pinned", "rules"] + names)
      }
    }
    places[name] = caches.count
    caches.append(cache)
  }

  /// Returns the section of a cache; `nil` if the file has none.
  public func cache(named name: String?) -> NamedCache? {
    name.flatMap { places[$0] }.map { caches[$0] }
  }

  private func setting(named key: ByteString) -> Setting? {
    Setting(rawValue: Self.optionName(key))
  }

  /// Returns the option for a key: `max_age` also means `max-age`.
  static func optionName(_ key: ByteString) -> String {
    String(
      decoding: key.bytes.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
  }

  private mutating func refuse(_ member: TOMLTable.Member, ifThere value: Value?) {
    if value != nil { append("duplicate setting", at: member.range) }
  }

  /// Rejects two settings that both set the capacity.
  private mutating func refuse(
    _ member: TOMLTable.Member, _ setting: Setting, beside settings: [Setting: Value]
  ) {
    let other: Setting? =
      switch setting {
      case .capacity: .preset
      case .preset: .capacity
      default: nil
      }
    if let other, settings[other] != nil {
      append(
        "'capacity' and 'preset' cannot be combined", at: member.range,
        hint: "a preset is a named capacity: remove one of them")
    }
  }

  mutating func value(of setting: Setting, _ value: TOMLValue) -> Value? {
    // A timer runs in any folder, so a path in a file must be complete.
    if [.log, .metricsFile].contains(setting) { return pathValue(value) }
    guard let text = text(of: value) else { return nil }
    do throws(WrittenValueError) { try setting.check(text) } catch {
      append("'\(error.text)' \(error.reason)", at: value.range, hint: error.hint)
      return nil
    }
    return Value(text: text, place: self.text.place(of: value.range))
  }

  /// Returns a value in the syntax of an option: the items of an array are separated by commas.
  mutating func text(of value: TOMLValue) -> String? {
    switch value.content {
    case .text(let text): return text
    case .integer(let number): return String(number)
    case .boolean(let flag): return flag ? "true" : "false"
    case .array(let values):
      let texts = values.compactMap { if case .text(let text) = $0.content { text } else { nil } }
      if texts.count == values.count { return texts.joined(separator: ",") }
      append("the array must contain only text", at: value.range)
      return nil
    case .table:
      append("expected a value, not a table", at: value.range)
      return nil
    }
  }

  private mutating func pathValue(_ value: TOMLValue) -> Value? {
    guard case .text(let path) = value.content,
      path.utf8.first == UInt8(ascii: "/") || path.utf8.starts(with: "~/".utf8)
    else {
      append(
        "the path must start with '/' or '~/'", at: value.range,
        hint: "a relative path would depend on the current folder")
      return nil
    }
    let place = text.place(of: value.range)
    guard path.utf8.first == UInt8(ascii: "~") else { return Value(text: path, place: place) }
    guard let home else {
      append("cannot find the home folder", at: value.range, hint: "write the full path")
      return nil
    }
    return Value(text: home + path.dropFirst(), place: place)
  }

  mutating func refuse(_ member: TOMLTable.Member, among names: [String]) {
    // Checked before the search for a similar name, which is slow for thousands of unknown keys.
    guard errors.count < Self.mostErrors else { return }
    let name = member.key.string ?? ""
    append(
      "unknown setting '\(name)'", at: member.range,
      hint: Spelling.nearest(to: name, among: names).map { "did you mean '\($0)'?" }
        ?? "use one of: " + names.joined(separator: ", "))
  }

  mutating func append(_ reason: String, at range: Range<Int>, hint: String? = nil) {
    guard errors.count < Self.mostErrors else { return }
    errors.append(ConfigurationError(reason, at: text.place(of: range), hint: hint))
  }

  /// Adds an error in an expression, at its place in the text of a value.
  mutating func append(_ error: ConditionError, in written: String, at range: Range<Int>) {
    guard errors.count < Self.mostErrors else { return }
    let place = text.place(of: range).place(of: error.range, in: written)
    errors.append(ConfigurationError(error.reason, at: place, hint: error.hint))
  }

  /// Whether the name of a section is the path of a cache.
  static func isPath(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "/") }

  /// Whether a key can be used as a word on a command line, and is not a path.
  static func isName(_ key: ByteString) -> Bool {
    key.bytes.first != UInt8(ascii: "-") && !key.bytes.isEmpty
      && key.bytes.allSatisfy { TOMLReader.isOfBareKey($0) || $0 == UInt8(ascii: ".") }
  }
}

extension ConfigurationFile {
  /// Reads an array of rules.
  mutating func rules(_ member: TOMLTable.Member) -> [EntryRule] {
    guard case .array(let values) = member.value.content else {
      append("'rules' must be an array of tables", at: member.range, hint: "write '[[rules]]'")
      return []
    }
    return values.compactMap { rule($0) }
  }

  private mutating func rule(_ value: TOMLValue) -> EntryRule? {
    guard case .table(let table) = value.content else {
      append("a rule must be a table", at: value.range, hint: "write '[[rules]]'")
      return nil
    }
    var rule = EntryRule(at: text.place(of: value.range))
    var hasMatch = false
    for member in table.members {
      switch Self.optionName(member.key) {
      case "match":
        hasMatch = true
        rule.match = criteria(member.value)
      case "name": rule.name = text(of: member.value)
      case "action": rule.action = action(member.value)
      case "expire-after":
        rule.expireAfter = written(member.value) { text throws(WrittenValueError) in
          try WrittenValue.duration(text)
        }
      case "max-entries":
        rule.entries = self.value(of: .maxEntries, member.value).flatMap { Int64($0.text) }
      case "revalidate-after":
        rule.revalidateAfter = written(member.value) { text throws(WrittenValueError) in
          try WrittenValue.duration(text)
        }
      case "class": rule.entryClass = className(member.value)
      case "max-size":
        rule.bytes = written(member.value) { text throws(WrittenValueError) in
          try WrittenValue.size(text)
        }
      default:
        refuse(
          member,
          among: [
            "name", "match", "action", "class", "expire-after", "revalidate-after", "max-entries",
            "max-size",
          ])
      }
    }
    // A rule that matches everything because of a typo would be a disaster, so 'match' is required.
    if !hasMatch {
      append(
        "a rule has no 'match'", at: value.range, hint: "write 'match = {}' to match all entries")
    }
    let limits = rule.expireAfter != nil || rule.entries != nil || rule.bytes != nil
    if rule.action != nil, limits {
      append(
        "a rule with an 'action' cannot have limits", at: value.range,
        hint: "remove the limits, or the 'action'")
    } else if rule.action == nil, !limits, rule.entryClass == nil, rule.revalidateAfter == nil,
      // After another error, the rule may have lost the one key that it had.
      errors.isEmpty
    {
      append(
        "the rule does nothing", at: value.range,
        hint:
          "add 'action', 'class', 'expire-after', 'revalidate-after', 'max-entries' or 'max-size'"
      )
    }
    return rule
  }

  private mutating func action(_ value: TOMLValue) -> EntryRule.Fate? {
    let fate = text(of: value).flatMap { EntryRule.Fate(rawValue: $0) }
    let fates: [EntryRule.Fate] = [.keep, .purge, .never, .memoryOnly]
    guard let fate, fates.contains(fate) else {
      append(
        "unknown action", at: value.range,
        hint: "use one of: " + fates.map(\.rawValue).joined(separator: ", "))
      return nil
    }
    return fate
  }

  /// Reads the name of a class, which must be usable in reports and expressions.
  private mutating func className(_ value: TOMLValue) -> String? {
    guard case .text(let name) = value.content, !name.isEmpty, name.utf8.first != UInt8(ascii: "-"),
      name.utf8.allSatisfy({ TOMLReader.isOfBareKey($0) || $0 == UInt8(ascii: ".") })
    else {
      append(
        "invalid class name", at: value.range,
        hint: "use letters, digits, '.', '_' and '-', for example 'offline'")
      return nil
    }
    return name
  }

  private mutating func written<Result>(
    _ value: TOMLValue, _ read: (String) throws(WrittenValueError) -> Result
  ) -> Result? {
    guard let text = text(of: value) else { return nil }
    do throws(WrittenValueError) { return try read(text) } catch {
      append("'\(error.text)' \(error.reason)", at: value.range, hint: error.hint)
      return nil
    }
  }

  private mutating func criteria(_ value: TOMLValue) -> SelectionCriteria {
    var criteria = SelectionCriteria()
    guard case .table(let table) = value.content else {
      append(
        "'match' must be a table", at: value.range,
        hint: "write 'match = { host = \"example.com\" }'")
      return criteria
    }
    for member in table.members { add(member, to: &criteria) }
    if let contradiction = criteria.contradiction {
      append(contradiction.message, at: value.range, hint: contradiction.hint)
    }
    return criteria
  }

  private mutating func add(_ member: TOMLTable.Member, to criteria: inout SelectionCriteria) {
    let word = Self.optionName(member.key)
    guard let name = SelectionCriteria.Name(rawValue: word) else {
      let names = SelectionCriteria.Name.allCases.map(\.rawValue)
      append(
        "unknown criterion '\(word)'", at: member.range,
        hint: Spelling.nearest(to: word, among: names).map { "did you mean '\($0)'?" })
      return
    }
    let values: [TOMLValue]
    switch member.value.content {
    // `stale = false` reads like "only what is not stale", which no option of the command line can
    // say.
    case .boolean(false):
      append("remove this criterion instead of setting it to false", at: member.value.range)
      return
    case .boolean(true) where name.isFlag:
      criteria.add(name)
      return
    case .array(let items):
      values = items
      // As "any of these", an empty list selects nothing; as a missing criterion, it selects
      // everything. A rule can remove entries, so neither is guessed.
      if values.isEmpty {
        append("the array is empty, so it would match nothing", at: member.value.range)
      }
    default: values = [member.value]
    }
    if name.isFlag {
      append("'\(word)' takes no value", at: member.value.range, hint: "write '\(word) = true'")
    } else if case .boolean = member.value.content {
      append("'\(word)' needs a value", at: member.value.range)
    } else if values.count > 1, !name.takesSeveral {
      append("'\(word)' takes one value", at: member.value.range)
    } else {
      for value in values { add(value, as: name, to: &criteria) }
    }
  }

  private mutating func add(
    _ value: TOMLValue, as name: SelectionCriteria.Name, to criteria: inout SelectionCriteria
  ) {
    guard let text = text(of: value) else { return }
    if name == .where {
      do throws(ConditionError) {
        let condition = try Condition(text)
        // A rule that asked for the result of rules could depend on itself.
        if let field = condition.fieldOfRules {
          append(
            "a rule cannot test '\(field)', because rules set it", at: value.range,
            hint: "copy the 'match' of the other rule")
        }
        // Rules are asked for each entry, without its body.
        if condition.searchesBodies {
          append(
            "a rule cannot search bodies", at: value.range,
            hint: "use 'body *= …' with '--where' or '--contains'")
        }
        criteria.conditions.append(condition)
      } catch {
        append(error, in: text, at: value.range)
      }
      return
    }
    do throws(WrittenValueError) { try criteria.add(name, text) } catch {
      append("'\(error.text)' \(error.reason)", at: value.range, hint: error.hint)
    }
  }
}
