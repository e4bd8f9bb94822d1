import Bytes

/// Names and values in XML, property lists and HTML.
extension SecretDetector {
  /// The longest tag that is looked at, in bytes.
  private static let longestTag = 512

  /// Returns the secret in an element: `<token>value</token>`, or `<key>token</key><string>value</string>`.
  ///
  /// - Parameter end: The index of the `>` of its tag.
  func elementSecret(after end: Int) -> SecretMatch? {
    guard let value = elementValue(after: end), let tag = tagStart(before: end) else { return nil }
    let name = elementName(at: tag + 1)
    if text[name].elementsEqual("string".utf8) || text[name].elementsEqual("data".utf8) {
      guard let key = propertyListKey(before: tag) else { return nil }
      return markupSecret(key, value)
    }
    return markupSecret(name, value)
  }

  /// Returns the secret in an attribute of an element that another attribute names: `<input name="token" value="…">`.
  ///
  /// - Parameter separator: The index of the `=` of the attribute.
  func attributeSecret(at separator: Int) -> SecretMatch? {
    guard names(["value", "content"], before: separator),
      let pair = NamedValue(in: text, at: separator), pair.isQuoted,
      let tag = tagStart(before: separator)
    else { return nil }
    for place in tag..<min(text.count, tag + Self.longestTag)
    where text[place] == UInt8(ascii: "=") && !pair.value.contains(place) {
      guard names(["name", "id", "property"], before: place),
        let other = NamedValue(in: text, at: place), other.isQuoted
      else { continue }
      // A `>` ends the tag, unless it is in a value.
      let between =
        other.value.lowerBound > pair.value.upperBound
        ? pair.value.upperBound..<other.value.lowerBound
        : other.value.upperBound..<pair.name.lowerBound
      guard !text[between].contains(UInt8(ascii: ">")) else { return nil }
      if let match = markupSecret(other.value, pair.value) { return match }
    }
    return nil
  }

  // Looked at before a value is read, so that hostile text with many of them costs little.
  /// Whether one of some names is before a separator, and a quotation mark after it.
  func names(_ names: [StaticString], before separator: Int) -> Bool {
    guard separator + 1 < text.count,
      text[separator + 1] == UInt8(ascii: "\"") || text[separator + 1] == UInt8(ascii: "'")
    else { return false }
    return names.contains { name in
      let name = Array(name.description.utf8)
      let start = separator - name.count
      return start > 0 && text[start - 1] <= 0x20 && text[start..<separator].elementsEqual(name)
    }
  }

  func markupSecret(_ name: Range<Int>, _ value: Range<Int>) -> SecretMatch? {
    guard (1...TellingName.longest).contains(name.count) else { return nil }
    return match(
      for: NamedValue(name: name, value: value, isQuoted: true, hasQuotedName: false),
      at: name.upperBound)
  }

  /// Returns the text of an element without the white space around it; `nil` if it has none.
  private func elementValue(after end: Int) -> Range<Int>? {
    var start = end + 1
    let marked = Array("<![CDATA[".utf8)
    if text[min(start, text.count)...].starts(with: marked) { start += marked.count }
    while start < text.count, text[start].isBlank || text[start] == 0x0A || text[start] == 0x0D {
      start += 1
    }
    let limit = min(text.count, start + SecretMatch.mostBytes + 1)
    var last = start
    while last < limit, text[last] > 0x20, text[last] != UInt8(ascii: "<"),
      text[last] != UInt8(ascii: "]")
    {
      last += 1
    }
    return last > start ? start..<last : nil
  }

  /// Returns the index of the `<` of the tag that a place is in; `nil` if that is no start tag.
  private func tagStart(before place: Int) -> Int? {
    var index = place - 1
    let first = max(0, place - Self.longestTag)
    while index >= first, text[index] != UInt8(ascii: "<") {
      if text[index] == UInt8(ascii: ">") { return nil }
      index -= 1
    }
    guard index >= first, index + 1 < place, text[index + 1].isASCIILetter else { return nil }
    return index
  }

  /// Returns the name of the element whose tag has it at an index, without the prefix of a namespace.
  private func elementName(at start: Int) -> Range<Int> {
    var (start, end) = (start, start)
    while end < text.count {
      if text[end] == UInt8(ascii: ":") {
        start = end + 1
      } else if !(text[end].isOfWord
        || text[end] == UInt8(ascii: "-") || text[end] == UInt8(ascii: "."))
      {
        break
      }
      end += 1
    }
    return start..<end
  }

  /// Returns the key before a value in an XML property list.
  private func propertyListKey(before value: Int) -> Range<Int>? {
    var end = value
    while end > 0, text[end - 1] <= 0x20 { end -= 1 }
    let closing = Array("</key>".utf8)
    guard text[..<end].suffix(closing.count).elementsEqual(closing) else { return nil }
    end -= closing.count
    let first = max(0, end - TellingName.longest - 5)
    guard let opening = text[first..<end].lastIndex(of: UInt8(ascii: ">")),
      text[..<(opening + 1)].suffix(5).elementsEqual("<key>".utf8)
    else { return nil }
    return opening + 1..<end
  }
}
