import JSON

/// Renders errors for programs.
public enum ErrorRenderer {
  /// Returns one line with a JSON object that describes an error.
  ///
  /// - Parameters:
  ///   - code: The exit status.
  ///   - kind: The kind of error, for programs, such as `busy`.
  ///   - message: The message, for people.
  ///   - hint: A suggestion, for people.
  ///   - path: The file concerned.
  public static func json(
    code: Int, kind: String, message: String, hint: String?, path: String?
  ) -> TextBuffer {
    var buffer = TextBuffer()
    // Errors are JSON too where the output is: a program that parses it must not have to parse
    // sentences when something fails.
    buffer.writeJSON(schema: "error") {
      $0.member("code", code)
      $0.member("kind", kind)
      $0.member("message", message)
      // Apart from the message, as a program may show one to its user and act on the other.
      $0.member("hint", hint)
      $0.member("path", path)
    }
    return buffer
  }
}
