import Rendering

/// A question on the terminal before a command changes entries, below a preview of the changes.
///
/// Only `y` and `yes` confirm; an empty line and the end of the input do not.
enum Confirmation {
  /// Entries, body files or sidecars are removed.
  case remove
  /// Entries are changed.
  case change
  /// This many entries of the cache are replaced.
  case replace(Int)

  /// Shows a preview and asks.
  ///
  /// - Parameter appendPreview: Appends the preview.
  /// - Returns: Whether the user confirmed.
  /// - Throws: ``CommandFailure`` if standard input is not a terminal.
  func ask(
    in environment: CommandEnvironment, showing appendPreview: (inout TextBuffer) -> Void
  ) throws(CommandFailure) -> Bool {
    try requireTerminal(in: environment)
    var preview = TextBuffer()
    appendPreview(&preview)
    // On standard error, so that the question is seen even if the output is redirected.
    environment.writeMessage(
      String(decoding: preview.bytes, as: UTF8.self) + "\n\(question) [y/N] ")
    // Nothing else, and no default: a key that was pressed too early must not remove anything.
    return ["y", "yes"].contains((environment.readLine() ?? "").lowercased())
  }

  /// Throws early if the question cannot be asked, for commands that do much work before asking it.
  func requireTerminal(in environment: CommandEnvironment) throws(CommandFailure) {
    // An answer out of a pipe is no answer of a person: `yes |` and a list of URLs look the same
    // here.
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
    let nobody = "cannot ask for confirmation: standard input is not a terminal"
    return switch self {
    case .remove: .usage(nobody, hint: "preview with '--dry-run', then remove with '--yes'")
    case .change: .usage(nobody, hint: "preview with '--dry-run', then change with '--yes'")
    case .replace(let count):
      .usage(
        "\(count) \(count == 1 ? "entry" : "entries") of the cache would be replaced; cannot ask for"
          + " confirmation: standard input is not a terminal",
        hint: "preview with '--dry-run', then import with '--yes'")
    }
  }
}
