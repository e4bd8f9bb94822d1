import Rendering

/// The question that a command asks on the terminal before it changes entries, below a preview of the changes.
///
/// Only `y` and `yes` confirm; the end of the input and an empty line do not.
enum Confirmation {
  /// Entries, body files or side files are removed.
  case remove
  /// Entries are changed.
  case change
  /// So many entries of the cache are replaced.
  case replace(Int)

  /// Shows a preview, and asks.
  ///
  /// - Parameter appendPreview: Appends what would be done.
  /// - Returns: Whether the user confirmed it.
  /// - Throws: ``CommandFailure`` if the standard input is no terminal.
  func ask(
    in environment: CommandEnvironment, showing appendPreview: (inout TextBuffer) -> Void
  ) throws(CommandFailure) -> Bool {
    try requireTerminal(in: environment)
    var preview = TextBuffer()
    appendPreview(&preview)
    environment.writeMessage(
      String(decoding: preview.bytes, as: UTF8.self) + "\n\(question) [y/N] ")
    return ["y", "yes"].contains((environment.readLine() ?? "").lowercased())
  }

  /// Makes sure that the question can be asked, for commands that do much work before they ask it.
  func requireTerminal(in environment: CommandEnvironment) throws(CommandFailure) {
    guard environment.isInputTerminal else { throw refusal }
  }

  private var question: String {
    switch self {
    case .remove: "Remove them?"
    case .change: "Change them?"
    case .replace: "Replace them?"
    }
  }

  private var refusal: CommandFailure {
    let nobody = "there is nobody to ask, as the standard input is no terminal"
    return switch self {
    case .remove: .usage(nobody, hint: "look with '--dry-run', then remove with '--yes'")
    case .change: .usage(nobody, hint: "look with '--dry-run', then change with '--yes'")
    case .replace(let count):
      .usage(
        "\(count) \(count == 1 ? "entry" : "entries") of the cache would be replaced; cannot ask for"
          + " confirmation: standard input is not a terminal",
        hint: "preview it with '--dry-run', then import with '--yes'")
    }
  }
}
