import Bytes

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
