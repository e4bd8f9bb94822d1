/// A text for the help, in lines that no terminal of 80 columns is too narrow for.
///
/// ArgumentParser breaks each line that is too long, and leaves what it broke off in a line of its own. Here it
/// goes before the next line of the paragraph; lines that fit stay as they are.
func helpText(_ text: String) -> String {
  var result: [String] = []
  // What is too much for a line, and how far its paragraph is indented.
  var rest = HelpLine(words: [], indentation: 0)
  for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
    let text = String(Substring(line))
    var next = HelpLine(text)
    if !rest.words.isEmpty, next.words.isEmpty || next.indentation != rest.indentation {
      result.append(rest.text)
      rest.words = []
    }
    guard !rest.words.isEmpty || text.unicodeScalars.count > HelpLine.columns else {
      result.append(text)
      continue
    }
    next.words = rest.words + next.words
    rest.indentation = next.indentation
    while let line = next.takeFullLine() { result.append(line) }
    rest.words = next.words
  }
  return (rest.words.isEmpty ? result : result + [rest.text]).joined(separator: "\n")
}

/// The words of a line, or of what is to become several.
private struct HelpLine {
  static let columns = 79

  var words: [Substring]
  var indentation: Int

  init(words: [Substring], indentation: Int) {
    (self.words, self.indentation) = (words, indentation)
  }

  init(_ text: String) {
    words = text.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
    indentation = text.utf8.prefix { $0 == UInt8(ascii: " ") }.count
  }

  var text: String {
    String(repeating: " ", count: indentation) + words.joined(separator: " ")
  }

  /// Takes as many words away as a line has room for; `nil` if all of them fit into one.
  mutating func takeFullLine() -> String? {
    var width = indentation
    for (index, word) in words.enumerated() {
      width += word.unicodeScalars.count + (index > 0 ? 1 : 0)
      guard width > Self.columns, index > 0 else { continue }
      defer { words.removeFirst(index) }
      return HelpLine(words: Array(words.prefix(index)), indentation: indentation).text
    }
    return nil
  }
}
