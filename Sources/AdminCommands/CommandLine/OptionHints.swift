/// Hints for options of other programs that this one does not have.
enum OptionHints {
  /// The hints, by option.
  private static let hints: [String: String] = [
    "--grep": "for text in bodies use '--contains', for a part of the URL --glob '*text*'",
    "--search": "for text in bodies use '--contains', for a part of the URL --glob '*text*'",
    "--url": "write the URL as an operand; for the beginning of URLs use '--prefix'",
    "--domain": "use '--host'; '.example.com' stands for the domain with all subdomains",
    "--type": "use '--mime'", "--content-type": "use '--mime'",
    "--expired": "use '--stale'",
    "--before": "use '--older-than' or '--stored-before'",
    "--until": "use '--older-than' or '--stored-before'",
    "--after": "use '--newer-than' or '--stored-after'",
    "--min-size": "use '--larger-than'",
    "--csv": "use '--format csv'", "--tsv": "use '--format tsv'",
    "--top": "use '--limit'", "--head": "use '--limit'", "--desc": "use '--reverse'",
    "--dry": "use '--dry-run'", "--recursive": "use '--prefix', '--host' or '--all'",
    "-r": "use '--prefix', '--host' or '--all'",
    "--verbose": "all notes are shown unless '--quiet' is given",
    "-n": "this command has neither '--limit' nor '--dry-run', because it changes nothing",
  ]

  /// Returns a failure with a hint for a message of ArgumentParser about an unknown option; `nil` for other messages
  /// and options.
  static func failure(for message: String) -> CommandFailure? {
    let beginning = "Unknown option '"
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    let quoted = message.utf8.dropFirst(beginning.utf8.count)
      .prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "=") }
    guard let name = String(quoted), let hint = hints[name] else { return nil }
    return .usage("this command has no option '\(name)'", hint: hint)
  }
}
