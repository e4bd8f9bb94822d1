public import Bytes

extension TextBuffer {
  /// Appends a word for a POSIX shell that the shell evaluates to exactly `text`.
  ///
  /// Visible text is put in single quotes. Any other text is written with `printf`: POSIX has no other form for bytes
  /// that a terminal would interpret.
  ///
  /// - Parameter text: The word. It must not contain a NUL, which no argument can, and not end with a line end, which
  ///   command substitution strips.
  mutating func append(shellWord text: [UInt8]) {
    if HostileText.isShownAsIs(text) {
      append(singleQuoted: text)
    } else {
      // In double quotes, or else the shell would split the result at spaces and expand its
      // patterns.
      append("\"$(")
      append(printing: text[...])
      append(")\"")
    }
  }

  /// Appends text in single quotes, in which only the quote itself is special to a shell.
  mutating func append(singleQuoted text: [UInt8]) {
    append(UInt8(ascii: "'"))
    for byte in text {
      // `'\''` closes the quotes, adds an escaped quote, and opens them again with the byte itself.
      if byte == UInt8(ascii: "'") { append("'\\'") }
      append(byte)
    }
    append(UInt8(ascii: "'"))
  }

  /// Appends a `printf` command for a POSIX shell that writes any bytes.
  mutating func append(printing text: ArraySlice<UInt8>) {
    append("printf '")
    var index = text.startIndex
    while index < text.endIndex {
      let (scalar, length) = text.scalar(at: index)
      let bytes = text[index..<(index + length)]
      switch scalar {
      case "\n": append("\\n")
      case "\\": append("\\\\")
      case "%": append("%%")
      // A quote would end the format, `!` is history expansion in interactive shells, even in quotes, and a leading
      // hyphen may begin an option.
      case nil, "'", "!": append(octal: bytes)
      case "-" where index == text.startIndex: append(octal: bytes)
      case let scalar? where HostileText.isHidden(scalar): append(octal: bytes)
      default: append(contentsOf: bytes)
      }
      index += length
    }
    append(UInt8(ascii: "'"))
  }

  /// Appends bytes as `\ooo`, always with three digits, because a digit may follow.
  private mutating func append(octal bytes: ArraySlice<UInt8>) {
    for byte in bytes {
      append(UInt8(ascii: "\\"))
      for shift in [6, 3, 0] as [UInt8] { append(UInt8(ascii: "0") + (byte >> shift & 7)) }
    }
  }
}

extension HostileText {
  /// Whether text is UTF-8 without hidden characters, and needs no escaping.
  static func isShownAsIs(_ text: [UInt8]) -> Bool {
    if PrintableASCII.isAll(of: text.span) { return true }
    var index = 0
    while index < text.count {
      let (scalar, length) = text.scalar(at: index)
      guard let scalar, !isHidden(scalar) else { return false }
      index += length
    }
    return true
  }
}

/// Formats words of commands that people copy into a POSIX shell.
public enum ShellText {
  /// Returns a word, quoted if necessary.
  public static func word(_ text: ByteString) -> String {
    var buffer = TextBuffer()
    if isPlain(text.bytes) {
      buffer.append(contentsOf: text.bytes)
    } else {
      buffer.append(shellWord: text.bytes)
    }
    return ByteString(buffer.bytes).string ?? ""
  }

  /// Returns an option with its value. Uses the long form with `=` if the value looks like an option.
  public static func option(_ short: String, _ long: String, _ value: String) -> String {
    let word = word(ByteString(value))
    // A value that begins with a hyphen would be taken for another option.
    return value.utf8.first == UInt8(ascii: "-") ? "\(long)=\(word)" : "\(short) \(word)"
  }

  private static func isPlain(_ word: [UInt8]) -> Bool {
    !word.isEmpty
      && word.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        // No `~`, which a shell expands at the beginning of a word, and no `=`, which could make an
        // assignment of it.
        default: "/._-+:@%,".utf8.contains(byte)
        }
      }
  }
}
