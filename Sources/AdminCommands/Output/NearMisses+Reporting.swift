import Administration
import Bytes
import Rendering
import ResponseStorage

extension EntryNames {
  /// Help for absent URLs.
  struct Help {
    /// The absent URLs, each with similar URLs in the cache; ``command`` is about the first.
    var near: [(url: ByteString, others: [String])] = []
    /// The command that explains why the first URL is absent; `nil` if no URL is.
    var command: String?
  }

  /// Looks for URLs in a cache that are similar to absent ones.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; reads nothing if no URL is absent, or too many.
  func help(in source: any ResponseSource, _ secrets: SecretPolicy) throws -> Help {
    let urls = names.compactMap { if case .url(let url) = $0 { url } else { nil } }
    // A long list comes from a file, not from a typing error.
    guard let first = urls.first, urls.count <= 20 else { return Help() }
    let misses = try NearMisses(to: urls, in: source)
    let near = urls.map { url in
      (url, misses.urls(near: url).map { Self.text(secrets.url($0, for: .people)) })
    }
    // With a masked secret, the command would be about another URL.
    let isMasked = secrets.url(first, for: .people) != first
    let word = isMasked ? "URL" : ShellText.word(first)
    let cache = ShellText.option("-c", "--cache", source.description.path)
    return Help(
      near: near, command: "urlcache-admin explain \(cache) --why-missing \(word)")
  }
}

extension CommandEnvironment {
  /// Reports similar URLs, and the command that explains why the URLs are absent.
  func report(_ help: EntryNames.Help) {
    for other in help.near.flatMap(\.others) { inform("  similar: '\(other)'\n") }
    if let command = help.command { inform("hint: find out why with: \(command)\n") }
  }
}

extension CommandEnvironment {
  /// Reports the hosts, media types and statuses that a selection names and no entry has, after it selected nothing.
  func report(valuesAbsentFrom source: any ResponseSource, _ selection: Selection) throws {
    guard !isQuiet else { return }
    for value in try selection.absentValues(in: source) {
      let (one, all) =
        switch value.property {
        case .host: ("host '\(value.name)'", "hosts")
        case .mime: ("media type '\(value.name)'", "media types")
        case .status: ("status \(value.name)", "statuses")
        }
      note("no entry has the \(one)")
      let cache = ShellText.option("-c", "--cache", source.description.path)
      hint(
        value.similar.map { "did you mean '\($0)'?" }
          ?? "list the \(all) with: urlcache-admin usage \(cache) --by \(value.property.rawValue)")
    }
  }
}

extension CommandFailure {
  /// None of the named entries exists.
  static func absent(
    _ names: EntryNames, in source: any ResponseSource, _ secrets: SecretPolicy
  ) throws -> CommandFailure {
    let help = try names.help(in: source, secrets)
    var failure = CommandFailure.absent(names, secrets)
    guard let command = help.command else {
      let list = OptionHints.commandLine(["list", "-c", source.description.path])
      failure.hint = "list the entries with: \(list)"
      return failure
    }
    let others = help.near.flatMap(\.others).map { "'\($0)'" }
    let there = others.isEmpty ? "" : "similar: \(others.joined(separator: ", ")); "
    failure.hint = there + "find out why with: \(command)"
    return failure
  }
}

extension StoreLookup {
  /// Returns what the user should know about an entry that was found by its URL or its key.
  func words(_ secrets: SecretPolicy) -> String {
    func shown(_ url: ByteString) -> String { EntryNames.text(secrets.url(url, for: .people)) }
    let (asked, key) = (shown(asked), EntryNames.text(shownKey))
    guard isAnswer else {
      return
        "the entry for '\(asked)' has the key '\(key)', so the cache does not use it for that URL"
    }
    let stored = stored.map { "'\(shown($0))'" } ?? "an unknown URL"
    if isRedirected {
      return "the cache answers '\(asked)' with the entry for \(stored), which has the key '\(key)'"
    }
    // Queries often name a user or a session, and the store does not tell them apart.
    let warning = differsByQuery ? "; the entry may be meant for another user" : ""
    return
      "the cache answers '\(asked)' with the entry for \(stored): both have the key '\(key)'\(warning)"
  }
}
