import JSON

/// An error as programs read it.
public enum ErrorRenderer {
  /// One line with a JSON object that tells of a failure.
  ///
  /// - Parameters:
  ///   - code: The exit status.
  ///   - kind: What kind of failure it is, for programs, for example `busy`.
  ///   - message: What went wrong, for people.
  ///   - hint: What can be done about it.
  ///   - path: The file that it is about.
  public static func json(
    code: Int, kind: String, message: String, hint: String?, path: String?
  ) -> TextBuffer {
    var buffer = TextBuffer()
    buffer.writeJSON(schema: "error") {
      $0.member("code", code)
      $0.member("kind", kind)
      $0.member("message", message)
      $0.member("hint", hint)
      $0.member("path", path)
    }
    return buffer
  }
}
