import Administration
import ArgumentParser
import Files
import ResponseArchives
import ResponseStorage

/// A command whose first operand may be the cache.
protocol CacheOperandCommand: ConfiguredCommand {
  /// The first operand.
  var operands: CacheOperand { get }

  /// Whether operands can name entries.
  static var takesEntries: Bool { get }

  /// The operands after the first one.
  var entryOperands: [String] { get }

  /// Takes the operands that name entries.
  mutating func take(entryOperands: [String]) throws(CommandFailure)
}

/// A command whose operands are the cache and the entries of a selection.
protocol SelectingCommand: CacheOperandCommand {
  /// The selection of entries.
  var selection: SelectionOptions { get set }
}

extension SelectingCommand {
  static var takesEntries: Bool { true }

  var inputs: [String] { selection.urlFile }

  var entryOperands: [String] { selection.entries }

  mutating func take(entryOperands: [String]) {
    selection.entries = entryOperands
  }
}

extension CacheOperandCommand {
  static var takesEntries: Bool { false }

  var entryOperands: [String] { [] }

  mutating func take(entryOperands: [String]) throws(CommandFailure) {
    guard let operand = entryOperands.first else { return }
    if let cache = cache.cache {
      throw .usage(
        "there are two caches, '\(printable(cache))' and '\(printable(operand))'",
        hint: "name one cache, as the first operand or with '-c'")
    }
    throw .usage(
      "'\(Self._commandName)' takes a cache, but '\(printable(operand))' is not one",
      hint: "see what it takes with 'urlcache-admin \(Self._commandName) --help'")
  }

  mutating func takeOperands(in environment: CommandEnvironment) throws {
    try takeCacheOperand(in: environment)
  }

  /// Takes the first operand as the cache if it is one, and the others as names of entries.
  mutating func takeCacheOperand(in environment: CommandEnvironment) throws {
    var entries = entryOperands
    if let word = operands.first {
      // Operands after `--` are never the cache.
      let isLiteral = entries.count < environment.operandsAfterTerminator
      let isCache =
        try !isLiteral && cache.cache == nil
        && environment.isCache(word, unlessEntry: Self.takesEntries) {
          try isIdentifier(word, in: environment)
        }
      if isCache {
        cache.cache = word
      } else {
        entries.insert(word, at: 0)
        let literal = environment.operandsAfterTerminator
        if let index = Self.cacheAmong(entries.dropLast(literal), self, in: environment) {
          cache.cache = entries.remove(at: index)
        }
      }
    }
    try take(entryOperands: entries)
  }
}

extension CacheOperandCommand {
  /// Returns the place of the cache among operands that begin with an entry, as in `explain URL CACHE`; `nil` if the cache
  /// is named otherwise, or if it is not clear which operand it is.
  private static func cacheAmong(
    _ operands: ArraySlice<String>, _ command: Self, in environment: CommandEnvironment
  ) -> Int? {
    guard takesEntries, command.cache.cache == nil,
      environment.configuration.value(of: .cache, forCache: nil) == nil
    else { return nil }
    let others = operands.indices.filter { (try? EntryNames.Name(written: operands[$0])) == nil }
    guard others.count == 1, environment.isKnownCache(operands[others[0]]) else { return nil }
    return others[0]
  }
}

extension CommandEnvironment {
  /// Whether the first operand is the cache.
  ///
  /// - Parameters:
  ///   - takesEntries: Whether the operand could name an entry instead.
  ///   - isIdentifier: Returns whether a word that is nothing else is the identifier of an app.
  /// - Throws: ``CommandFailure`` if the operand could mean two things.
  func isCache(
    _ word: String, unlessEntry takesEntries: Bool, or isIdentifier: () throws -> Bool
  ) throws -> Bool {
    let entry = try? EntryNames.Name(written: word)
    if case .url = entry { return false }
    let named = configuration.path(ofCache: word)?.text
    let exists = !word.isEmpty && (try? FileStatus.of(word)) != nil
    try refuseTwoMeanings(of: word) { _ in "-c \(word)" }
    if takesEntries, entry != nil {
      // An id is an entry, unless there is a cache with that name.
      guard named != nil || exists && isReadableCache(word) else { return false }
      throw CommandFailure.usage(
        "'\(printable(word))' could be a cache or the id of an entry",
        hint: "write '-c \(word)' for the cache, or '-- \(word)' for the entry")
    }
    if named != nil || exists || !takesEntries { return true }
    // Opening reports that there is no such file.
    if Self.looksLikePath(word) { return true }
    if try isIdentifier() { return true }
    throw CommandFailure.noCache(
      word,
      hint: Spelling.nearest(to: word, among: configuration.cacheNames).map {
        "did you mean '\($0)'?"
      } ?? OperandHints(in: self).hint(forFirst: word))
  }

  /// Rejects a word that is both the name of a configured cache and another file: a command could change the wrong one.
  ///
  /// - Parameter clear: Returns what to write instead for the configured cache, from its path.
  func refuseTwoMeanings(
    of word: String, writing clear: (_ path: String) -> String
  ) throws(CommandFailure) {
    guard let named = configuration.path(ofCache: word)?.text, !word.isEmpty,
      (try? FileStatus.of(word)) != nil,
      Directory.resolvedPath(named) != Directory.resolvedPath(word)
    else { return }
    throw .usage(
      "'\(printable(word))' is both a configured cache and a file in this folder",
      hint: "write '\(clear(named))' for the configured cache, or './\(word)' for the file")
  }

  /// Whether a word is the name or the path of a cache.
  func isKnownCache(_ word: String) -> Bool {
    configuration.path(ofCache: word) != nil
      || !word.isEmpty && (try? FileStatus.of(word)) != nil && isReadableCache(word)
  }

  /// Whether a cache can be opened at a path, or is there and cannot be opened.
  private func isReadableCache(_ path: String) -> Bool {
    do { _ = try openSource(path, 0, now) } catch let error as StoreError {
      return error.code != .notACache && error.code != .notFound
    } catch let error as ResponseArchiveError { return error.kind != .notAnArchive } catch {
      return true
    }
    return true
  }

  /// Whether a word that is no URL can only mean a file.
  private static func looksLikePath(_ word: String) -> Bool {
    let bytes = word.utf8
    return ["/", "./", "../", "~/"].contains { bytes.starts(with: $0.utf8) }
      || (["db"] + ExportFormat.extensions { _ in true }).contains {
        bytes.reversed().starts(with: ".\($0)".utf8.reversed())
      }
  }
}

/// The command that a command line names.
struct NamedCommand {
  /// The command.
  let type: any ParsableCommand.Type

  /// The words that name it: `list`, or `rules test`.
  let name: String

  /// Finds the command; `nil` if the first word names none.
  init?(in words: [String]) {
    var commands: [any ParsableCommand.Type] = [URLCacheAdmin.self]
    for word in words {
      let command = commands[commands.count - 1].configuration.subcommands.first {
        $0._commandName == word || $0.configuration.aliases.contains(word)
      }
      guard let command else { break }
      commands.append(command)
    }
    guard let last = commands.dropFirst().last else { return nil }
    type = last
    name = commands.dropFirst().map { $0._commandName }.joined(separator: " ")
  }

  /// Returns the names of its options as they are written: `--limit` and `-n`.
  ///
  /// They are read from the help, which is slow, so this is only for messages about errors.
  ///
  /// - Parameter includingHidden: Whether to return options that the help does not show.
  func options(includingHidden: Bool = false) -> [String] {
    let help = URLCacheAdmin.helpMessage(
      for: type, includeHidden: includingHidden, columns: 80)
    var names: [String] = []
    for line in help.utf8.split(separator: UInt8(ascii: "\n"))
    where line.starts(with: "  -".utf8) {
      let words = line.split(separator: UInt8(ascii: " ")).prefix { $0.first == UInt8(ascii: "-") }
      for word in words {
        // An option and its opposite are written as `--low/--no-low`, several names with commas.
        for name in word.split(separator: UInt8(ascii: "/")) {
          names.append(
            String(decoding: Array(name.filter { $0 != UInt8(ascii: ",") }), as: UTF8.self))
        }
      }
    }
    return names
  }
}

/// A subcommand that gets its environment as a parameter.
protocol AdminCommand: ParsableCommand {
  // A program that parses the output also has to parse the failures, and must not find a sentence
  // where it expects an object.
  /// Whether the command writes JSON, so that errors must be JSON too.
  var writesJSON: Bool { get }

  /// Whether to leave out notes, hints and summaries.
  var isQuiet: Bool { get }

  /// What standard output is for.
  var outputPurpose: OutputPurpose { get }

  /// Runs the command.
  ///
  /// - Returns: The exit status; failures are thrown.
  func run(in environment: CommandEnvironment) throws -> ExitStatus

  /// Runs the command when it is due: at once, unless a timer runs it.
  ///
  /// - Returns: The exit status; failures are thrown.
  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus

  /// Runs the command with its options, and reports failures.
  ///
  /// - Returns: The exit status.
  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus
}

extension AdminCommand {
  var isQuiet: Bool { false }

  var outputPurpose: OutputPurpose { .product }

  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus {
    try run(in: environment)
  }

  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus {
    do {
      return try runKeepingStatus(in: environment) { try runWhenDue(in: $0) }
    } catch {
      // Every error ends here, so that there is one place that decides about exit statuses and
      // about text from caches in messages.
      return URLCacheAdmin.report(error, asJSON: writesJSON, in: environment)
    }
  }
}
