import Bytes

extension TextBuffer {
  /// Appends a word of a command for a POSIX shell, which the shell takes for nothing but `text`.
  ///
  /// Text that people can see stands in single quotes. All other text is written with `printf`, as
  /// POSIX has no other form for bytes that a terminal would obey.
  ///
  /// - Parameter text: The word, which must not hold a NUL, that no command takes, or end with a
  ///   line end, which a shell drops.
  mutating func append(shellWord text: [UInt8]) {
    if HostileText.isShownAsIs(text) {
      append(singleQuoted: text)
    } else {
      append("\"$(")
      append(printing: text[...])
      append(")\"")
    }
  }

  /// Appends text in single quotes, in which a shell leaves all as it is but the quote itself.
  mutating func append(singleQuoted text: [UInt8]) {
    append(UInt8(ascii: "'"))
    for byte in text {
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
      // A quote ends the format, `!` is history to an interactive shell, even in quotes, and a
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

  /// Appends bytes as `\ooo`, always with three digits, as the next character may be one.
  private mutating func append(octal bytes: ArraySlice<UInt8>) {
    for byte in bytes {
      append(UInt8(ascii: "\\"))
      for shift in [6, 3, 0] as [UInt8] { append(UInt8(ascii: "0") + (byte >> shift & 7)) }
    }
  }
}

extension HostileText {
  /// Whether text is UTF-8 of which nothing is hidden, so that it can be shown as it is.
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
