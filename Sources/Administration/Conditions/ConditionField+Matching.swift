import ResponseStorage

extension ConditionField {
  /// Refuses a host or a media type that no response has, as the options of the same names do.
  func check(_ text: String, _ sign: ConditionOperator) throws(WrittenValueError) {
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    if self == .mime, isWhole {
      if !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) {
        throw WrittenValueError(
          text, "is not a whole media type",
          hint: "write '^=' and the beginning, for example 'mime ^= \"\(text)/\"'")
      }
      if text.utf8.contains(UInt8(ascii: "*")) {
        throw WrittenValueError(
          text, "is a pattern, and no media type has a '*'",
          hint: "write '^=' and the beginning, for example 'mime ^= \"image/\"'")
      }
    }
    guard self == .host else { return }
    if isWhole {
      _ = try WrittenValue.host(text)
    } else if text.utf8.contains(UInt8(ascii: "*")) {
      throw WrittenValueError(
        text, "is a pattern, and no host has a '*'", hint: "write the text without '*'")
    }
  }

  /// What to tell the user about a value.
  func note(about text: String, _ sign: ConditionOperator) -> String? {
    guard self == .url, [.equal, .notEqual, .oneOf, .beginsWith].contains(sign) else { return nil }
    return WrittenValue.schemeNote(about: text)
  }
}

extension WrittenValue {
  /// The schemes that people mean, as far as they write one.
  private static let schemes = [
    "http://", "https://", "file://", "data:", "blob:", "ws://", "wss://",
  ]

  /// What to tell the user about the beginning of a URL that looks like a host, as it has no `:`; `nil` otherwise.
  static func schemeNote(about text: String) -> String? {
    guard mayBeginURL(text), !text.utf8.contains(UInt8(ascii: ":")),
      !schemes.contains(where: { $0.utf8.starts(with: text.utf8) })
    else { return nil }
    return
      "'\(text)' is the beginning of a scheme, and of no host; write 'https://\(text)' for a host"
  }
}
