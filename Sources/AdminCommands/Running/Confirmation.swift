import Files
import Progress
import Rendering

/// A question on the terminal before a command changes entries, below a preview of the changes.
///
/// Only `y` and `yes` confirm; an empty line and the end of the input do not.
enum Confirmation {
  /// Entries, body files or sidecars are removed.
  case remove
  /// Entries are changed.
  case change
  /// This many entries in the cache are replaced.
  case replace(Int)

  /// Shows a preview and asks.
  ///
  /// - Parameters:
  ///   - subject: What would change, and in which cache: `771 entries (12.9 MiB) from com.example.shop`.
  ///   - appendPreview: Appends the preview.
  /// - Returns: Whether the user confirmed.
  /// - Throws: ``CommandFailure`` if standard input is not a terminal.
  func ask(
    about subject: String, in environment: CommandEnvironment,
    showing appendPreview: (inout TextBuffer) -> Void
  ) throws(CommandFailure) -> Bool {
    try requireTerminal(in: environment)
    var preview = TextBuffer(style: environment.messageStyle)
    appendPreview(&preview)
    return ask(about: subject, after: preview, in: environment)
  }

  /// Shows a preview that may be long, and asks.
  ///
  /// - Parameter writePreview: Appends the preview, and calls a function that writes what there is of it if it is much.
  /// - Throws: ``CommandFailure`` if standard input is not a terminal, or the error that `writePreview` throws.
  func ask(
    about subject: String, in environment: CommandEnvironment,
    writing writePreview: (inout TextBuffer, (inout TextBuffer) -> Void) throws -> Void
  ) throws -> Bool {
    try requireTerminal(in: environment)
    var preview = TextBuffer(style: environment.messageStyle)
    try writePreview(&preview) { text in
      guard text.bytes.count >= OutputBuffer.pieceLength else { return }
      environment.writeMessage(String(decoding: text.bytes, as: UTF8.self))
      text.removeAll(keepingCapacity: true)
    }
    return ask(about: subject, after: preview, in: environment)
  }

  private func ask(
    about subject: String, after preview: TextBuffer, in environment: CommandEnvironment
  ) -> Bool {
    // On standard error, so that the question is seen even if the output is redirected.
    environment.writeMessage(
      String(decoding: preview.bytes, as: UTF8.self)
        + "\n\(verb) \(printable(subject))? [y/N] ")
    defer { environment.progress?.noteLineEnd() }
    // Nothing else, and no default: a key that was pressed too early must not remove anything.
    return ["y", "yes"].contains((environment.readLine() ?? "").lowercased())
  }

  /// Throws early if the question cannot be asked, for commands that do much work before asking it.
  func requireTerminal(in environment: CommandEnvironment) throws(CommandFailure) {
    // An answer out of a pipe is no answer of a person: `yes |` and a list of URLs look the same
    // here.
    guard environment.isInputTerminal else { throw refusal(in: environment) }
  }

  private var verb: String {
    switch self {
    case .remove: "Remove"
    case .change: "Change"
    case .replace: "Replace"
    }
  }

  /// Returns the failure of a command that cannot ask, with the command line that does not ask.
  private func refusal(in environment: CommandEnvironment) -> CommandFailure {
    let nobody = "cannot ask for confirmation: standard input is not a terminal"
    var message = nobody
    if case .replace(let count) = self {
      message =
        "\(QuantityWords.counted(count, "entry", "entries")) in the cache would be replaced; \(nobody)"
    }
    // What standard input contained is read, so the same line would read nothing.
    let line =
      environment.words.contains("-")
      ? " '--yes'"
      : ": " + OptionHints.commandLine(CommandEnvironment.wordsWithYes(environment.words))
    let action = verb.lowercased()
    return .usage(
      message,
      hint: "preview with '--dry-run', then \(action) with\(line)")
  }

  /// Returns the name by which people know the cache at a path: the name of its folder, which is often the identifier
  /// of an app.
  static func title(ofCacheAt path: String) -> String {
    let parts = absolutePath(path).utf8.split(separator: UInt8(ascii: "/"))
    let names = parts.last?.elementsEqual("Cache.db".utf8) ?? false ? parts.dropLast() : parts[...]
    return names.last.map { String(decoding: Array($0), as: UTF8.self) } ?? path
  }
}
