import ResponseStorage

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
