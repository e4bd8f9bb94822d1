import Bytes

/// Sets or removes a setting in a configuration file, and leaves every other byte unchanged.
///
/// Comments, blank lines and the order of keys belong to the author of the file, so the text is edited, not
/// regenerated. The result is parsed again before it is returned: a change that also affects another setting is an
/// error.
public struct ConfigurationEdit: Sendable {
  /// Why a setting cannot be changed.
  public struct Failure: Error, Hashable, Sendable {
    /// The reason: a clause.
    public let reason: String
    /// A hint, or `nil`.
    public let hint: String?
    /// Whether the file is at fault, not the request.
    public let isOfFile: Bool

    init(_ reason: String, hint: String? = nil, isOfFile: Bool = false) {
      (self.reason, self.hint, self.isOfFile) = (reason, hint, isOfFile)
    }
  }

  /// The key of a setting for all caches, or of a setting or the path of one cache.
  public struct Key: Hashable, Sendable {
    /// The cache, or `nil` for all.
    public let cache: String?
    /// The name of the setting, or `path`.
    public let name: String

    /// Parses `SETTING` or `caches.NAME.SETTING`.
    ///
    /// The name of a cache may contain dots: the setting follows the last one.
    public init(_ text: String) throws(Failure) {
      let prefix = "caches."
      let rest = text.utf8.starts(with: prefix.utf8) ? text.dropFirst(prefix.count) : nil
      if let rest, let dot = rest.utf8.lastIndex(of: UInt8(ascii: ".")), dot > rest.startIndex {
        cache = String(rest[..<dot])
        name = ConfigurationFile.optionName(
          ByteString(String(rest[rest.utf8.index(after: dot)...])))
      } else {
        cache = nil
        name = ConfigurationFile.optionName(ByteString(text))
      }
      let names = Setting.allCases.filter { cache == nil || !$0.isGeneral }.map(\.rawValue)
      let known = cache == nil ? names : ["path"] + names
      guard name != "pinned" else {
        throw Failure(
          "'pinned' is a list of URLs, not a setting",
          hint: "use 'urlcache-admin pin URL' and 'urlcache-admin unpin URL'")
      }
      guard known.contains(name) else {
        throw Failure(
          "unknown setting '\(text)'",
          hint: Spelling.nearest(to: name, among: known).map { "did you mean '\(prefixed($0))'?" }
            ?? "use one of: " + known.joined(separator: ", "))
      }
    }

    private func prefixed(_ name: String) -> String { cache.map { "caches.\($0).\(name)" } ?? name }
  }

  let path: String
  let home: String?
  let bytes: [UInt8]
  private let root: TOMLTable

  /// Reads the file to change.
  ///
  /// - Parameters:
  ///   - bytes: The contents of the file; empty for a new file.
  ///   - path: The path of the file, for errors.
  ///   - home: The home folder, which replaces `~` at the beginning of a path.
  public init(_ bytes: [UInt8], path: String, home: String?) throws(ConfigurationError) {
    (self.bytes, self.path, self.home) = (bytes, path, home)
    do throws(TOMLError) { root = try TOMLReader.read(bytes) } catch {
      throw ConfigurationError(
        error.reason, at: ConfigurationText(path: path, bytes: bytes).place(of: error.range))
    }
  }

  /// The parsed file.
  var file: ConfigurationFile { ConfigurationFile(bytes, path: path, home: home) }

  /// Returns the file with a changed setting.
  public func setting(_ key: Key, to value: String) throws(Failure) -> [UInt8] {
    let literal = Self.literal(value, for: key)
    var result = bytes
    if let member = member(key) {
      result.replaceSubrange(member.value.range, with: literal)
    } else {
      insert(Array("\(key.name) = ".utf8) + literal, for: key, into: &result)
    }
    try verify(result, key, value)
    return result
  }

  /// Returns the file without a setting, or `nil` if it does not contain it; removing the path of a cache that has
  /// nothing else also removes its section.
  public func removing(_ key: Key) throws(Failure) -> [UInt8]? {
    guard let member = member(key) else { return nil }
    var result = bytes
    let start = startOfLine(member.range.lowerBound)
    result.removeSubrange(start..<endOfLine(member.value.range.upperBound))
    if key.name == "path", let header = headerOfOnly(member, of: key) {
      result.removeSubrange(startOfLine(header.lowerBound)..<endOfLine(header.upperBound))
    }
    try verify(result, key, nil)
    return result
  }
}

extension ConfigurationEdit {
  func member(_ key: Key) -> TOMLTable.Member? {
    guard let name = key.cache else { return root.member(named: key.name) }
    return table(ofCache: name)?.member(named: key.name)
  }

  private func table(ofCache name: String) -> TOMLTable? {
    root.table(named: "caches")?.table(named: name)
  }

  /// Returns a value in TOML syntax: a number or a Boolean if the setting is one, else quoted text.
  private static func literal(_ value: String, for key: Key) -> [UInt8] {
    // Sizes, durations and percentages have units, so TOML only has text for them. These
    // settings are the only ones that it has a type for.
    let isNumber = key.name == Setting.maxEntries.rawValue && Int64(value).map { "\($0)" } == value
    let isFlag =
      [Setting.onlyIfOver, .secure].contains { $0.rawValue == key.name }
      && ["true", "false"].contains(value)
    return isNumber || isFlag ? Array(value.utf8) : quoted(value)
  }

  /// Returns text as a TOML string.
  static func quoted(_ value: String) -> [UInt8] {
    var result = [UInt8(ascii: "\"")]
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += [UInt8(ascii: "\\"), UInt8(scalar.value)]
      // TOML allows control characters in basic strings only as escapes.
      case "\u{0}"..."\u{1F}", "\u{7F}":
        result += "\\u00".utf8 + Base16.encode([UInt8(scalar.value)])
      default: result += String(scalar).utf8
      }
    }
    return result + [UInt8(ascii: "\"")]
  }

  /// Adds a line after the last setting of the same table; a new table goes at the end of the file.
  func insert(_ line: [UInt8], for key: Key, into result: inout [UInt8]) {
    let newLine = [UInt8(ascii: "\n")]
    guard let place = place(for: key) else {
      var end = result.isEmpty || result.last == newLine[0] ? [] : newLine
      if !result.isEmpty { end += newLine }
      let header = key.cache.map { "[caches.\(Self.quotedIfNeeded($0))]\n" } ?? ""
      result += end + header.utf8 + line + newLine
      return
    }
    let needsLineEnd = place > 0 && bytes[place - 1] != newLine[0]
    result.insert(contentsOf: (needsLineEnd ? newLine : []) + line + newLine, at: place)
  }

  /// Returns the header of the section of a cache, if it has a single setting.
  func headerOfOnly(_ member: TOMLTable.Member, of key: Key) -> Range<Int>? {
    guard let name = key.cache, table(ofCache: name)?.members == [member],
      let header = root.table(named: "caches")?.member(withKey: name)?.value.range,
      isHeader(header), header.upperBound <= member.range.lowerBound
    else { return nil }
    return header
  }

  /// Returns the position for the line of a new setting, or `nil` if its table is missing.
  private func place(for key: Key) -> Int? {
    let members: [TOMLTable.Member]
    var last: Int?
    if let name = key.cache {
      guard let cache = root.table(named: "caches")?.member(withKey: name) else { return nil }
      // An inline table such as `shop = { … }` has no line after which a setting could be added.
      guard case .table(let table) = cache.value.content, isHeader(cache.value.range) else {
        return nil
      }
      members = table.members
      last = endOfLine(cache.value.range.upperBound)
    } else {
      members = root.members
    }
    // A table with its own header is not a line of this table.
    let ends = members.filter { $0.value.range != $0.range }.map(\.value.range.upperBound)
    if let end = ends.max() { last = endOfLine(end) }
    if let last { return last }
    // Insert before the first header and the comments directly above it.
    return key.cache == nil ? startOfFirstHeader : nil
  }

  // In TOML, every key after a header belongs to the table of that header.
  private var startOfFirstHeader: Int? {
    guard let first = root.members.map(\.range.lowerBound).min() else { return nil }
    var start = startOfLine(first)
    while start > 0 {
      let before = startOfLine(start - 1)
      guard bytes[before] == UInt8(ascii: "#") else { break }
      start = before
    }
    return start
  }

  /// Whether a table is declared by `[…]`, so that a bracket precedes its name.
  private func isHeader(_ range: Range<Int>) -> Bool {
    bytes[startOfLine(range.lowerBound)..<range.lowerBound]
      .first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "[")
  }

  func startOfLine(_ position: Int) -> Int {
    bytes[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
  }

  /// Returns the beginning of the next line.
  func endOfLine(_ position: Int) -> Int {
    bytes[position...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
  }

  private static func quotedIfNeeded(_ name: String) -> String {
    name.utf8.allSatisfy(TOMLReader.isOfBareKey)
      ? name : String(decoding: quoted(name), as: UTF8.self)
  }
}

extension ConfigurationEdit.Failure {
  /// The file uses a syntax that cannot be edited line by line.
  static let unchangeable = Self(
    "cannot edit this setting, because of how it is written in the file",
    hint: "edit the file yourself, then run 'urlcache-admin config check'",
    isOfFile: true)
}

extension ConfigurationEdit.Key {
  init(cache: String?, name: String) {
    (self.cache, self.name) = (cache, name)
  }
}

extension TOMLTable {
  /// Returns the member with a name, treating `_` like `-`.
  fileprivate func member(named name: String) -> Member? {
    members.first { ConfigurationFile.optionName($0.key) == name }
  }

  /// Returns the member with exactly this name.
  fileprivate func member(withKey name: String) -> Member? {
    members.first { $0.key == ByteString(name) }
  }

  fileprivate func table(named name: String) -> TOMLTable? {
    guard case .table(let table)? = member(withKey: name)?.value.content else { return nil }
    return table
  }
}

extension ConfigurationEdit {
  /// Parses the new text, and compares its settings with the old ones.
  ///
  /// - Parameter value: The new value; `nil` if the setting is removed.
  func verify(_ new: [UInt8], _ key: Key, _ value: String?) throws(Failure) {
    guard (try? TOMLReader.read(new)) != nil else { throw Failure.unchangeable }
    let file = ConfigurationFile(new, path: path, home: home)
    if let error = file.errors.first {
      // The user must see whether the value just given is wrong, or a line that was wrong before.
      let old = self.file.errors.first {
        $0.reason == error.reason && $0.place.text == error.place.text
      }
      // The line in the file as it is: an edit can add and remove lines before it.
      throw Failure(
        old.map { "line \($0.place.line) of the file has an error: \($0.reason)" } ?? error.reason,
        hint: old == nil ? error.hint : "list all errors with 'urlcache-admin config check'",
        isOfFile: old != nil)
    }
    var expected = Self.values(of: self.file)
    let changed = Self.values(of: file)
    // Only this setting may differ.
    expected[key] = changed[key]
    guard changed == expected, (changed[key] != nil) == (value != nil) else {
      throw Failure.unchangeable
    }
  }

  /// Returns all settings of a file, without their places.
  private static func values(of file: ConfigurationFile) -> [Key: String] {
    var values: [Key: String] = [:]
    for (setting, value) in file.settings {
      values[Key(cache: nil, name: setting.rawValue)] = value.text
    }
    for cache in file.caches {
      values[Key(cache: cache.name, name: "path")] = cache.path?.text
      for (setting, value) in cache.settings {
        values[Key(cache: cache.name, name: setting.rawValue)] = value.text
      }
      if !cache.rules.isEmpty {
        values[Key(cache: cache.name, name: "rules")] = "\(cache.rules.count)"
      }
      values[.pins(ofCache: cache.name)] = text(of: cache.pins)
    }
    values[.pins(ofCache: nil)] = text(of: file.pins)
    values[Key(cache: nil, name: "rules")] = "\(file.rules.count)"
    for query in file.queries {
      let texts = (query.conditions + [query.sort, query.columns].compactMap { $0 }).map(\.text)
      values[Key(cache: nil, name: "saved.\(query.name)")] = texts.joined(separator: "\n")
    }
    return values
  }
}
