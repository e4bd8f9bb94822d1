import Bytes
import ResponseStorage

extension ConditionField {
  /// Rejects a host or media type that no response can have, like the options of the same names.
  func check(_ text: String, _ sign: ConditionOperator) throws(WrittenValueError) {
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    if self == .mime, isWhole {
      if !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) {
        throw WrittenValueError(
          text, "is not a complete media type",
          hint: "use '^=' to match the beginning, for example 'mime ^= \"\(text)/\"'")
      }
      // `--mime` takes patterns, so users expect them here, too. Compared literally, the text would
      // match nothing, and a clean-up would do nothing without saying so.
      if text.utf8.contains(UInt8(ascii: "*")) {
        throw WrittenValueError(
          text, "contains '*', which no media type does",
          hint: "use '^=' to match the beginning, for example 'mime ^= \"image/\"'")
      }
    }
    guard self == .host else { return }
    if isWhole {
      _ = try WrittenValue.host(text)
    } else if text.utf8.contains(UInt8(ascii: "*")) {
      throw WrittenValueError(
        text, "contains '*', which no host does", hint: "remove the '*'")
    }
  }

  /// Returns a text in the form in which the field is compared with it.
  func compared(_ text: String, _ sign: ConditionOperator) -> String {
    guard self == .host else { return text }
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    let host = isWhole ? HostPattern(ByteString(text)).name : HostName.mapped(ByteString(text))
    return host.string ?? text
  }

  /// Returns a note for the user about a value.
  func note(about text: String, _ sign: ConditionOperator) -> String? {
    guard self == .url, [.equal, .notEqual, .oneOf, .beginsWith].contains(sign) else { return nil }
    return WrittenValue.schemeNote(about: text)
  }
}

extension WrittenValue {
  /// The schemes that users may be starting to type.
  private static let schemes = [
    "http://", "https://", "file://", "data:", "blob:", "ws://", "wss://",
  ]

  /// Returns a note if a URL prefix without a `:` looks like a host; `nil` otherwise.
  static func schemeNote(about text: String) -> String? {
    // Users who write a host without a scheme select nothing. The text cannot be refused, because
    // some other scheme may begin with it, so it only causes a note.
    guard mayBeginURL(text), !text.utf8.contains(UInt8(ascii: ":")),
      !schemes.contains(where: { $0.utf8.starts(with: text.utf8) })
    else { return nil }
    return
      "'\(text)' is the start of a scheme, not of a host; use 'https://\(text)' for a host"
  }
}
