import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseStorage

/// Finds the cache that a word names which is neither a path of a cache nor a configured name: the cache of an app, by the
/// identifier that `discover` shows, or the only cache in a folder of fixed layout.
///
/// Commands that change a cache take an identifier only as `-c com.example.shop`, and only if no other cache can be meant.
struct CacheLookup {
  /// The word, and the command line that contains it.
  private let word: String
  private let environment: CommandEnvironment

  /// The most caches that a message lists.
  private static let mostListed = 20

  /// The number of folder levels below the usual places in which the default caches of apps lie: nine in a simulator.
  private static let depth = 10

  init(_ word: String, in environment: CommandEnvironment) {
    (self.word, self.environment) = (word, environment)
  }

  /// Whether the word can be the identifier of an app: neither a path nor anything that exists.
  var mayBeIdentifier: Bool {
    !word.isEmpty && !word.utf8.contains(UInt8(ascii: "/")) && word.utf8.count < 256
      && (try? FileStatus.of(word)) == nil
  }

  /// Searches the usual places of the user for the default caches of the app with this identifier.
  func discovery() throws -> Discovery {
    guard mayBeIdentifier else { return Discovery() }
    var search = StoreSearch(maximumDepth: Self.depth, variable: environment.variable)
    // Relative paths and a missing HOME leave no place.
    guard !search.folders.isEmpty else { return Discovery() }
    (search.application, search.measures) = (word, false)
    return try environment.searches.result(of: search, by: environment.findStores)
  }

  /// Returns the path of the cache to read; `nil` if the word names no cache in this way.
  ///
  /// - Throws: ``CommandFailure`` if it names several.
  func pathForReading() throws -> String? {
    guard !mayBeIdentifier else {
      return try only(of: discovery().stores, "is the identifier of")
    }
    guard isFolderOfFixedLayout, !environment.isKnownCache(word) else { return nil }
    var search = StoreSearch(below: [word], needsFolders: true)
    search.measures = false
    return try only(of: environment.findStores(search).stores, "contains")
  }

  /// Returns the path of the cache to change; `nil` if the word names no app with a cache of this user.
  ///
  /// - Throws: ``CommandFailure`` if there are several, or if there could be.
  func pathForChanging() throws -> String? {
    let discovery = try discovery()
    let own = discovery.stores.filter {
      (try? FileStatus.of($0.path))?.owner == CurrentProcess.user
    }
    guard let path = try only(of: own, "is the identifier of") else { return nil }
    if let place = discovery.unreadable.first {
      throw CommandFailure(
        .noPermission, kind: "no-permission",
        "cannot search '\(printable(place.path))': \(place.reason); another cache of"
          + " '\(printable(word))' could be there",
        hint:
          "name the cache by its path: \(OptionHints.commandLine(environment.words(naming: path, insteadOf: word)))",
        path: place.path)
    }
    return path
  }

  /// Returns the path of a single store; `nil` if there is none.
  private func only(
    of stores: [FoundStore], _ relation: String
  ) throws(CommandFailure) -> String? {
    guard stores.count > 1 else { return stores.first?.path }
    let paths = stores.prefix(Self.mostListed).map { "\n  \(ShellText.word(ByteString($0.path)))" }
    let more = stores.count - paths.count
    throw .usage(
      "'\(printable(word))' \(relation) \(QuantityWords.grouped(Int64(stores.count))) caches:"
        + paths.joined() + (more > 0 ? "\n  … and \(QuantityWords.grouped(Int64(more))) more" : ""),
      hint: "name one of them by its path")
  }

  /// Whether the word is a folder in which systems and tools keep the cache of one app at a fixed place: the data that Xcode
  /// downloads from a device, the data of an app or a simulator, or the caches of Foundation.
  private var isFolderOfFixedLayout: Bool {
    guard (try? FileStatus.of(word + "/."))?.kind == .directory,
      (try? FileStatus.of(word + "/Cache.db")) == nil
    else { return false }
    let names = (Directory.resolvedPath(word) ?? absolutePath(word)).utf8
      .split(separator: UInt8(ascii: "/")).map { String(decoding: Array($0), as: UTF8.self) }
    func contains(_ parents: [String]) -> Bool {
      names.indices.contains { names[$0...].dropLast().starts(with: parents) }
    }
    return names.last == "org.swift.foundation.URLCache"
      || names.contains { $0.utf8.reversed().starts(with: ".xcappdata".utf8.reversed()) }
      || contains(["CoreSimulator", "Devices"]) || contains(["Data", "Application"])
      || contains(["Library", "Containers"]) || contains(["Library", "Group Containers"])
  }
}

/// The results of searches for the caches of apps, each of which is made once.
final class ApplicationSearches {
  private var results: [StoreSearch: Discovery] = [:]

  /// Returns the result of a search, which is made if it is new.
  func result(
    of search: StoreSearch, by find: (StoreSearch) throws -> Discovery
  ) rethrows -> Discovery {
    if let result = results[search] { return result }
    let result = try find(search)
    results[search] = result
    return result
  }
}

extension CommandEnvironment {
  /// Returns the path of the cache to read that a word names; the word itself if it is a path, a configured name, or no cache.
  ///
  /// - Throws: ``CommandFailure`` if it names several.
  func cacheToRead(_ word: String) throws -> String {
    guard configuration.path(ofCache: word) == nil,
      let path = try CacheLookup(word, in: self).pathForReading()
    else { return word }
    noteOnce("'\(word)' is the cache \(ShellText.word(ByteString(path)))")
    return path
  }

  /// Returns the path of the cache to change that a word names, and prints it; the word itself if it is a path, a configured
  /// name, or no cache.
  ///
  /// - Parameters:
  ///   - isOption: Whether the word follows `-c`.
  ///   - isConfirmed: Whether the user is not asked.
  /// - Throws: ``CommandFailure`` if another cache could be meant.
  func cacheToChange(_ word: String, isOption: Bool, isConfirmed: Bool) throws -> String {
    guard configuration.path(ofCache: word) == nil else { return word }
    let lookup = CacheLookup(word, in: self)
    if (try? FileStatus.of(word)) != nil {
      guard let path = try lookup.pathForReading() else { return word }
      throw CommandFailure(
        .data, kind: "not-a-cache",
        "'\(printable(word))' is a folder with a cache in it: a command that changes the cache needs its path",
        hint: "write: \(OptionHints.commandLine(words(naming: path, insteadOf: word)))", path: word)
    }
    guard let path = try lookup.pathForChanging() else { return word }
    let line = OptionHints.commandLine(words(naming: path, insteadOf: word))
    // A word with a dot is no slip of the keyboard, as the name of a program could be.
    guard word.utf8.contains(UInt8(ascii: ".")) else {
      throw CommandFailure.app(
        word,
        "is the name of an app: a command that changes a cache takes only an identifier with a dot",
        hint: "write: \(line)")
    }
    // What a script names may be gone tomorrow, and another cache must not take its place.
    if isConfirmed {
      throw CommandFailure.usage(
        "'--yes' needs the path of the cache or a configured name, not the identifier of an app",
        hint: "write: \(line)")
    }
    guard isOption else {
      throw CommandFailure.app(
        word,
        "is the identifier of an app: a command that changes a cache takes one only after '-c'",
        hint: "write: \(line)")
    }
    // Even if messages are not wanted: the user decides by it.
    writeMessage("note: '\(printable(word))' is the cache \(ShellText.word(ByteString(path)))\n")
    return path
  }

  /// Returns the command line with the path of a cache in place of the word that names it.
  func words(naming path: String, insteadOf word: String) -> [String] {
    var words = words
    let names = ["-c", "--cache"]
    if let index = words.indices.dropFirst().last(where: {
      words[$0] == word && names.contains(words[$0 - 1])
    }) {
      words[index] = path
    } else if let index = words.lastIndex(of: "--cache=\(word)") {
      words[index] = "--cache=\(path)"
    } else if let index = words.indices.dropFirst().first(where: { words[$0] == word }) {
      words[index] = path
    }
    return words
  }
}

extension ConfiguredCommand {
  /// Whether the command can change the cache, if not with its present options.
  var changesCache: Bool { VerbSynonyms.changing.contains(Self._commandName) || !onlyLooks }

  /// Whether an operand that is nothing else is the identifier of an app.
  ///
  /// - Throws: ``CommandFailure`` if it is one, but the command changes the cache, and must be given its path.
  func isIdentifier(_ word: String, in environment: CommandEnvironment) throws -> Bool {
    guard changesCache else {
      return try !CacheLookup(word, in: environment).discovery().stores.isEmpty
    }
    return try environment.cacheToChange(word, isOption: false, isConfirmed: isConfirmed) != word
  }

  /// Puts the path of the cache in place of an identifier that names it, also in the command line, which hints repeat.
  ///
  /// - Parameter isOption: Whether `-c` names the cache.
  mutating func locateCache(
    isOption: Bool, in environment: inout CommandEnvironment
  ) throws {
    // An import creates the cache that it does not find.
    guard let word = cache.cache, Self._commandName != "import" else { return }
    let path =
      changesCache
      ? try environment.cacheToChange(word, isOption: isOption, isConfirmed: isConfirmed)
      : try environment.cacheToRead(word)
    guard path != word else { return }
    environment.words = environment.words(naming: path, insteadOf: word)
    cache.cache = path
  }
}

extension CommandFailure {
  /// There is no cache with a name or path.
  static func noCache(_ word: String, hint: String? = nil) -> CommandFailure {
    let isPath = word.utf8.contains(UInt8(ascii: "/"))
    return CommandFailure(
      .noInput, kind: "not-found",
      "no cache '\(printable(word))': no such file"
        + (isPath ? "" : ", and no cache of this name in the configuration"),
      hint: hint ?? "find caches with: urlcache-admin discover", path: word)
  }

  /// A word names an app with a cache, but the command does not take it.
  fileprivate static func app(_ word: String, _ reason: String, hint: String) -> CommandFailure {
    CommandFailure(
      .noInput, kind: "not-found", "'\(printable(word))' \(reason)", hint: hint, path: word)
  }
}
