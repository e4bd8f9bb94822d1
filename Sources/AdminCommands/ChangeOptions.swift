import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

/// How a command that removes entries goes about it.
struct ChangeOptions: ParsableArguments {
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed, and change nothing.")
  var dryRun = false

  @Flag(name: [.customShort("y"), .long], help: "Do not ask.")
  var yes = false

  @Option(
    help: ArgumentHelp(
      "Refuse to remove more than so many entries, or more than this share of them.",
      valueName: "number|percent"),
    transform: parseRemovalLimit)
  var maxDelete: RemovalLimit?

  @Option(
    help: ArgumentHelp(
      "Export what will go first; not possible before there is 'export'.", valueName: "file"))
  var backup: String?

  @Flag(help: "Do not have SQLite check the database before it is changed.")
  var noVerify = false

  @Option(help: "How to write: table, json.")
  var format = ChangeFormat.table

  func validate() throws {
    if backup != nil {
      throw ValidationError("'--backup' needs 'export', which this version does not have.")
    }
  }

  /// Makes sure that the user wants what a plan says.
  ///
  /// - Returns: Whether to carry the plan out.
  /// - Throws: ``CommandFailure`` if the plan removes too much, or if there is nobody to ask.
  func allow(
    _ plan: RemovalPlan, _ renderer: RemovalRenderer, in environment: CommandEnvironment
  ) throws(CommandFailure) -> Bool {
    if let maxDelete, plan.exceeds(maxDelete) {
      throw CommandFailure(
        .no, kind: "too-many",
        "\(plan.entries.count) of \(plan.storedEntries) entries would go, more than '--max-delete' allows",
        hint: "look at them with '--dry-run'")
    }
    if dryRun || yes || plan.entries.isEmpty { return true }
    guard environment.isInputTerminal else {
      throw .usage(
        "there is nobody to ask, as the standard input is no terminal",
        hint: "look with '--dry-run', then remove with '--yes'")
    }
    var text = TextBuffer()
    var preview = renderer
    preview.isDryRun = true
    preview.appendText(plan, skipped: 0, into: &text)
    environment.writeMessage(String(decoding: text.bytes, as: UTF8.self) + "\nRemove them? [y/N] ")
    let answer = environment.readLine() ?? ""
    return ["y", "yes"].contains(answer.lowercased())
  }
}

/// The formats of commands that change a cache.
enum ChangeFormat: String, CaseIterable, ExpressibleByArgument {
  case table, json
}

/// A limit on the command line: `100`, or `10%` of all entries.
func parseRemovalLimit(_ text: String) throws -> RemovalLimit {
  if text.utf8.last == UInt8(ascii: "%") { return .percent(try parsePercent(text)) }
  guard let count = Int64(text), count >= 0 else {
    throw ValidationError(
      "'\(printable(text))' is no limit. Write a number of entries, or a share such as '10%'.")
  }
  return .entries(count)
}
