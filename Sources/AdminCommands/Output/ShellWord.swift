/// Returns the value of a typed shell word: without quotes, and with a leading `~/` replaced.
///
/// - Parameters:
///   - typed: A word as typed in bash, zsh or fish.
///   - home: The folder that `~` stands for.
/// - Returns: The value; `nil` if the shell would have to evaluate something.
func shellWord(_ typed: String, home: String?) -> String? {
  let (single, double, escape) = (UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"))
  var rest = Array(typed.utf8)[...]
  var word: [UInt8] = []
  if rest.first == UInt8(ascii: "~") {
    guard let home, rest.count == 1 || rest.dropFirst().first == UInt8(ascii: "/") else {
      return nil
    }
    word = Array(home.utf8)
    rest = rest.dropFirst()
  }
  var quote: UInt8?
  while let byte = rest.popFirst() {
    if byte == quote {
      quote = nil
    } else if quote == single {
      word.append(byte)
      // Only a shell could evaluate these, and completion must not run anything.
    } else if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "`") {
      return nil
    } else if byte == escape, let next = rest.first,
      quote == nil || "\"\\$`".utf8.contains(next)
    {
      // Inside double quotes, a backslash only escapes these characters.
      word.append(next)
      rest = rest.dropFirst()
    } else if quote == nil, byte == single || byte == double {
      quote = byte
    } else {
      word.append(byte)
    }
  }
  return String(validating: word, as: UTF8.self)
}
