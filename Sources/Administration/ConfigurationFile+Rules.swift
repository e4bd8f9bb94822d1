import ResponseStorage

extension ConfigurationFile {
  /// Reads an array of rules.
  mutating func rules(_ member: TOMLTable.Member) -> [ConfigurationRule] {
    guard case .array(let values) = member.value.content else {
      append("rules are an array of tables", at: member.range, hint: "write '[[rules]]'")
      return []
    }
    return values.compactMap { rule($0) }
  }

  private mutating func rule(_ value: TOMLValue) -> ConfigurationRule? {
    guard case .table(let table) = value.content else {
      append("a rule is a table", at: value.range, hint: "write '[[rules]]'")
      return nil
    }
    var rule = ConfigurationRule(at: text.place(of: value.range))
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
      case "max-size":
        rule.bytes = written(member.value) { text throws(WrittenValueError) in
          try WrittenValue.size(text)
        }
      default:
        refuse(
          member,
          among: ["name", "match", "action", "expire-after", "max-entries", "max-size"])
      }
    }
    // A rule that matches all because of a slip would be a disaster: all is said in words.
    if !hasMatch {
      append("a rule has no 'match'", at: value.range, hint: "write 'match = {}' for all entries")
    }
    let limits = rule.expireAfter != nil || rule.entries != nil || rule.bytes != nil
    if rule.action != nil, limits {
      append(
        "a rule with an 'action' has no limits", at: value.range,
        hint: "what is kept stays whatever limits say")
    } else if rule.action == nil, !limits, errors.isEmpty {
      append(
        "a rule does nothing", at: value.range,
        hint: "give it 'action', 'expire-after', 'max-entries' or 'max-size'")
    }
    return rule
  }

  private mutating func action(_ value: TOMLValue) -> Policy.Fate? {
    let fate = text(of: value).flatMap { Policy.Fate(rawValue: $0) }
    guard fate == .keep || fate == .purge else {
      append(
        "an action is none of the words there are", at: value.range, hint: "there are: keep purge")
      return nil
    }
    return fate
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

  private mutating func criteria(_ value: TOMLValue) -> [ConfigurationRule.Criterion] {
    guard case .table(let table) = value.content else {
      append(
        "'match' is a table", at: value.range, hint: "write 'match = { host = \"example.com\" }'")
      return []
    }
    return table.members.compactMap { member in
      let values: [String]
      switch member.value.content {
      case .boolean(true): values = []
      case .boolean(false):
        append("what is false is left out", at: member.value.range)
        return nil
      case .array(let items):
        values = items.compactMap { text(of: $0) }
        if values.isEmpty {
          append("this array is empty, and would match nothing", at: member.value.range)
          return nil
        }
      default:
        guard let text = text(of: member.value) else { return nil }
        values = [text]
      }
      return ConfigurationRule.Criterion(
        option: Self.optionName(member.key), values: values,
        place: text.place(of: member.value.range), namePlace: text.place(of: member.range))
    }
  }
}
