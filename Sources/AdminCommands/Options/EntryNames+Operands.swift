import Administration
import Bytes
import Rendering
import ResponseStorage

extension EntryNames.Name {
  /// Reads an operand, which is a URL or an id; for anything else the error says where it belongs.
  init(operand: String) throws(CommandFailure) {
    do throws(WrittenValueError) { try self.init(written: operand) } catch {
      throw .usage(
        "'\(operand)' \(error.reason)",
        hint: "the cache is named with '-c PATH'; a part of a URL with '--glob' or '--prefix'")
    }
  }

  /// Finds the one entry of this name, as the cache does: of those that only have the URL none is taken if it
  /// answers the URL with another.
  ///
  /// - Parameter report: Called if the entry is found otherwise than by a URL and a key that are the same.
  func resolved(
    in source: any ResponseSource, _ report: (StoreLookup) -> Void
  ) throws -> StoredResponse.ID {
    let names = EntryNames([self])
    var found: [StoredResponse.ID] = []
    if case .id(let id) = self {
      if try source.response(id, []) != nil { found.append(id) }
    } else {
      var matches: [(id: StoredResponse.ID, lookup: StoreLookup?)] = []
      try source.scan(names.projection) { response in
        if names.contains(response) { matches.append((response.id, names.lookup(of: response))) }
        return .next
      }
      let answers = matches.filter { $0.lookup?.isAnswer ?? true }
      if !answers.isEmpty { matches = answers }
      found = matches.map(\.id)
      if found.count == 1, let lookup = matches[0].lookup { report(lookup) }
    }
    guard let id = found.first else {
      throw try CommandFailure.absent(names, in: source, SecretPolicy())
    }
    guard found.count == 1 else {
      throw CommandFailure.usage(
        "several entries have this URL",
        hint: "list them with 'urlcache-admin list URL', and give the id of one")
    }
    return id
  }
}

extension EntryNames {
  /// A clause for each name that says that no entry has it.
  func absences(_ secrets: SecretPolicy) -> [String] {
    names.map { name in
      switch name {
      case .id(.row(let row)): "no entry has the id \(row)"
      case .id(.file(let file)): "no entry has the id '\(Self.text(file))'"
      case .url(let url):
        "no entry has the URL '\(Self.text(secrets.url(url, for: .people)))'"
      }
    }
  }

  /// Text from a cache or of a name for people, on whatever terminal.
  static func text(_ text: ByteString) -> String { HostileText.shown(text).string ?? "" }
}

extension CommandFailure {
  /// None of the entries that were named is there.
  static func absent(_ names: EntryNames, _ secrets: SecretPolicy) -> CommandFailure {
    CommandFailure(
      .no, kind: "no-such-entry", names.absences(secrets).joined(separator: "; "),
      hint: "list what is there with 'urlcache-admin list'")
  }
}
