public import Bytes

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
