import Bytes
import Rendering
import ResponseStorage

extension CommandEnvironment {
  /// Reports that URLs in an archive without credentials still contain tokens.
  func note(keptTokens count: Int64) {
    // Which of them are secrets only their servers know, so this is a note and no default.
    guard count > 0 else { return }
    note(
      "the URLs of \(Self.entries(count)) contain values that look like tokens; "
        + "use '--redact' to leave them out")
  }

  /// Reports which secrets were left out of an archive, and where others may remain.
  ///
  /// - Parameter bodies: The number of response bodies in the archive.
  func note(_ tally: Redaction.Tally, bodies: Int64) {
    let places = [
      (tally.headers, "header fields"), (tally.urls, "URLs"),
      (tally.requestBodies, "request bodies"), (tally.attachments, "attached properties"),
    ].filter { $0.0 > 0 }.map { "\($0.1) of \(Self.entries($0.0))" }
    note(
      places.isEmpty
        ? "found no secrets to leave out"
        : "left out secrets: " + places.joined(separator: ", "))
    if tally.replacements > 0 {
      note(
        "distinct secrets in URLs: \(tally.replacements), each replaced with a numbered 'REDACTED'")
    }
    // A note and no check: what is a secret in the body of a response only the app knows.
    if bodies > 0 {
      note(
        "bodies are unchanged and may contain secrets: \(bodies) "
          + "(use '--redact-bodies' to leave them out)")
    }
    if !tally.keptNames.isEmpty { note(Self.kept(tally.keptNames)) }
  }

  private static func entries(_ count: Int64) -> String {
    QuantityWords.counted(count, "entry", "entries")
  }

  /// Returns a note with the first parameters whose values are in the archive, in alphabetical order.
  private static func kept(_ names: Set<ByteString>) -> String {
    // Names of parameters come from servers, and can be anything and in any number.
    let first = names.sorted().prefix(20).map { "'\(HostileText.shown($0).string ?? "")'" }
    let count =
      names.count < Redaction.Tally.mostNames ? "\(names.count)" : "\(names.count) or more"
    return "other query parameters are unchanged and may contain secrets: \(count) "
      + "(\(first.joined(separator: ", "))\(names.count > 20 ? ", …" : "")); "
      + "use '--redact-query NAME' to leave them out"
  }
}
