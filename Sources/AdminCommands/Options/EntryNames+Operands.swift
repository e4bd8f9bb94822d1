import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

extension EntryNames.Name {
  /// Parses an operand, which is a URL or an id; for other text, the hint names the right option.
  init(operand: String, in environment: CommandEnvironment) throws(CommandFailure) {
    do throws(WrittenValueError) { try self.init(written: operand) } catch {
      throw OperandHints(in: environment).failure(for: operand, error)
    }
  }

  /// Finds the single entry with this name like the cache does: an entry with the URL is not found if the cache returns
  /// another entry for that URL.
  ///
  /// - Parameter report: Called if the entry is found by another way than a URL that equals its key.
  func resolved(
    in source: any ResponseSource, _ report: (StoreLookup) -> Void
  ) throws -> StoredResponse.ID {
    let names = try EntryNames([self]).withFullIDs(in: source)
    var found: [StoredResponse.ID] = []
    if case .id(let id)? = names.names.first {
      // Looked up directly, without reading every entry.
      if try source.response(id, []) != nil { found.append(id) }
    } else {
      var matches: [(id: StoredResponse.ID, lookup: StoreLookup?)] = []
      try source.scan(names.projection.union(.storage)) { response in
        // What a store keeps of a page beside its response has the same URL, and no body.
        if response.isResponse, names.contains(response) {
          matches.append((response.id, names.lookup(of: response)))
        }
        return .next
      }
      // In a Foundation store, an entry with this URL may have the key of another.
      let answers = matches.filter { $0.lookup?.isAnswer ?? true }
      if !answers.isEmpty { matches = answers }
      found = matches.map(\.id)
      if found.count == 1, let lookup = matches[0].lookup { report(lookup) }
    }
    guard let id = found.first else {
      throw try CommandFailure.absent(names, in: source, SecretPolicy())
    }
    // The same URL can be stored once for each partition. A choice between them would be an
    // accident.
    guard found.count == 1 else {
      throw CommandFailure.usage(
        "several entries have this URL",
        hint: "list them with 'urlcache-admin list URL', then give the id of one")
    }
    return id
  }
}

extension EntryNames {
  /// The most entries that a message about a short id lists.
  private static let mostListed = 10

  /// Whether the ids of a source are needed for some names.
  var hasShortIDs: Bool {
    names.contains { if case .id(let id) = $0 { id.isShort } else { false } }
  }

  /// Returns the names with the ids of a source in place of their short forms; a short form that no entry has stays.
  ///
  /// - Throws: ``CommandFailure`` if several entries have one of the short forms.
  func withFullIDs(in source: any ResponseSource) throws -> EntryNames {
    guard hasShortIDs else { return self }
    var found: [String: [StoredResponse.ID]] = [:]
    for case .id(let id) in names where id.isShort { found[id.written] = [] }
    try source.scan([]) { response in
      if case .file = response.id { found[response.id.short]?.append(response.id) }
      return .next
    }
    for (short, ids) in found where ids.count > 1 {
      let more = ids.count > Self.mostListed ? "\n  …" : ""
      let lines = ids.sorted().prefix(Self.mostListed).map { "\n  \($0.written)" }
      throw CommandFailure.usage(
        "\(QuantityWords.grouped(Int64(ids.count))) entries have the short id '\(short)':"
          + lines.joined() + more,
        hint: "give the whole id of one of them")
    }
    return EntryNames(
      names.map { name in
        guard case .id(let id) = name, id.isShort, let full = found[id.written]?.first else {
          return name
        }
        return .id(full)
      })
  }

  /// Returns a clause for each name that no entry has.
  func absences(_ secrets: SecretPolicy) -> [String] {
    names.map { name in
      switch name {
      case .id(.row(let row)): "no entry has the id \(row)"
      case .id(let id): "no entry has the id '\(id.written)'"
      case .url(let url):
        "no entry has the URL '\(Self.text(secrets.url(url, for: .people)))'"
      }
    }
  }

  /// Returns text from a cache or a name in a form that is safe on any terminal.
  static func text(_ text: ByteString) -> String { HostileText.shown(text).string ?? "" }
}

extension StoredResponse.ID {
  /// The whole id, as it can be typed, and safe to print.
  fileprivate var written: String {
    switch self {
    case .row(let row): String(row)
    case .file(let name): EntryNames.text(name)
    }
  }
}

extension CommandFailure {
  /// None of the named entries exists.
  static func absent(_ names: EntryNames, _ secrets: SecretPolicy) -> CommandFailure {
    CommandFailure(
      .no, kind: "no-such-entry", names.absences(secrets).joined(separator: "; "),
      hint: nil)
  }
}

/// The options that may precede the verb: `-c PATH list` means `list -c PATH`.
///
/// ArgumentParser only accepts options of a command after its name, so they are moved there. They are not interpreted
/// here.
enum LeadingOptions {
  private static let names = ["-c", "--cache", "--config", "--color", "--progress"]

  /// Returns the words of a command line with the verb first, and without synonyms of verbs.
  static func moved(behindTheVerbOf words: [String]) -> [String] {
    var leading: [String] = []
    var rest = words[...]
    while let word = rest.first {
      if names.contains(word) {
        leading += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else if names.dropFirst().contains(where: { word.utf8.starts(with: "\($0)=".utf8) }) {
        leading.append(word)
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    let replaced = VerbSynonyms.replaced(in: rest)
    // Left as it is, so that the parser reports the unknown option in its own words.
    guard let verb = replaced.first, verb.utf8.first != UInt8(ascii: "-") else {
      return leading.isEmpty ? replaced : words
    }
    let verbs = verbCount(of: replaced)
    return replaced.prefix(verbs) + leading + replaced.dropFirst(verbs)
  }

  /// Returns the number of words that name the command: two for `rules test`.
  private static func verbCount(of words: [String]) -> Int {
    var subcommands = URLCacheAdmin.configuration.subcommands
    for (index, word) in words.enumerated() {
      let command = subcommands.first { command in
        command._commandName == word || command.configuration.aliases.contains(word)
      }
      guard let command else { return max(index, 1) }
      subcommands = command.configuration.subcommands
    }
    return words.count
  }
}
