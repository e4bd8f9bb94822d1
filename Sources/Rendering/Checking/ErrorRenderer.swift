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
    buffer.append("{\"schema\":\"urlcache-admin.error/1\",\"code\":")
    buffer.append(integer: Int64(code))
    buffer.append(",\"kind\":")
    buffer.append(json: kind)
    buffer.append(",\"message\":")
    buffer.append(json: message)
    buffer.append(",\"hint\":")
    buffer.append(json: hint)
    buffer.append(",\"path\":")
    buffer.append(json: path)
    buffer.append("}\n")
    return buffer
  }
}
