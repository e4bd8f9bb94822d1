import Administration
import ArgumentParser
import Bytes
import Rendering

/// The options for what to find, and where.
struct GrepOptions: ParsableArguments {
  @Option(
    name: .customLong("in"),
    help: ArgumentHelp(
      "Search only these parts: url, request, response, headers (request and response), body"
        + " (default: all).",
      valueName: "part,…"),
    completion: .list(SearchedParts.words),
    transform: SearchedParts.init(parsing:))
  var places: SearchedParts?

  @Flag(name: [.customShort("i"), .long], help: "Ignore case.")
  var ignoreCase = false

  @Flag(
    name: [.customShort("F"), .long], help: "Treat the pattern as literal text (the default).")
  var fixedStrings = false

  @Flag(
    name: [.customShort("E"), .long],
    help: "Treat the pattern as a regular expression in Perl syntax.")
  var expression = false

  @Option(
    name: [.customShort("e"), .customLong("regexp")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The pattern, instead of the first operand; it may begin with '-'.", valueName: "pattern"))
  var pattern: [String] = []

  @Flag(name: [.customShort("w"), .long], help: "Find only whole words.")
  var word = false

  @Option(
    name: [.customShort("m", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Show at most this many matching lines per entry.", valueName: "number"))
  var maxCount: Int?

  @Flag(help: "Also search binary bodies, which contain NUL bytes.")
  var binary = false

  @OptionGroup var synonyms: GrepSynonyms

  func validate() throws {
    guard pattern.count < 2 else {
      throw ValidationError(
        "'-e' can be given only once; -E 'ONE|OTHER' finds either of two texts.")
    }
    guard !(fixedStrings && (expression || synonyms.expression)) else {
      throw ValidationError("'-F' and '-E' cannot be combined.")
    }
    if let maxCount, maxCount < 1 { throw ValidationError("'--max-count' must be at least 1.") }
  }
}

/// The parts of entries to search.
struct SearchedParts {
  /// The words that stand for parts.
  static let words = SearchedPart.allCases.map(\.rawValue) + ["headers"]

  let parts: Set<SearchedPart>

  /// Parses names separated by commas.
  init(parsing text: String) throws {
    var parts: Set<SearchedPart> = []
    for word in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let word = String(decoding: Array(word), as: UTF8.self)
      if word == "headers" {
        parts.formUnion([.request, .response])
      } else if let part = SearchedPart(rawValue: word) {
        parts.insert(part)
      } else {
        throw ValidationError(
          "'\(printable(word))' is not a part of an entry. Use: "
            + Self.words.joined(separator: ", "))
      }
    }
    self.parts = parts
  }
}

/// The options for what to show of matches.
struct GrepOutputOptions: ParsableArguments {
  /// The most lines of context.
  static let mostContext = 1_000

  @Flag(name: [.customShort("l"), .long], help: "Show only the entries with matches.")
  var listEntries = false

  @Flag(name: .customLong("files-with-matches"), help: .hidden)
  var listFiles = false

  @Flag(help: "Show only the number of matching lines per entry.")
  var count = false

  @Flag(name: [.customShort("o"), .long], help: "Show only the matches, one per line.")
  var onlyMatching = false

  @Option(
    name: [.customShort("A", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Also show this many lines of the body after each match.", valueName: "number"))
  var afterContext: Int?

  @Option(
    name: [.customShort("B", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Also show this many lines of the body before each match.", valueName: "number"))
  var beforeContext: Int?

  @Option(
    name: [.customShort("C", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Also show this many lines of the body around each match.", valueName: "number"))
  var context: Int?

  func validate() throws {
    guard [showsEntries, count, onlyMatching].count(where: { $0 }) < 2 else {
      throw ValidationError("Only one of '-l', '--count' and '-o' can be given.")
    }
    guard part == .lines || (afterContext ?? beforeContext ?? context) == nil else {
      throw ValidationError("'\(partOption)' shows no context.")
    }
    for number in [afterContext, beforeContext, context] where number.map({ $0 < 0 }) ?? false {
      throw ValidationError("A number of lines cannot be less than zero.")
    }
  }

  private var showsEntries: Bool { listEntries || listFiles }

  /// What to show of each entry.
  var part: GrepRenderer.Part {
    showsEntries ? .entries : count ? .counts : onlyMatching ? .matches : .lines
  }

  /// The option that sets ``part``.
  var partOption: String { showsEntries ? "-l" : count ? "--count" : "-o" }
}

/// The first two operands of `grep`, and the value of `-c`.
///
/// People who know other commands of this program write the cache first, and people who know other programs write `-c` to
/// count.
struct GrepOperands {
  private let pattern: String
  private let operand: String?
  private let cache: String?

  init(_ pattern: String, _ operand: String?, _ cache: String?) {
    (self.pattern, self.operand, self.cache) = (pattern, operand, cache)
  }

  /// Rejects operands in the wrong order, with the right command line.
  func check(in environment: CommandEnvironment) throws(CommandFailure) {
    // The pattern may be the name of a cache, so the rest must make no sense.
    guard environment.isKnownCache(pattern) else { return }
    if let cache {
      guard !environment.isKnownCache(cache), let index = environment.words.firstIndex(of: "-c")
      else { return }
      var words = environment.words
      words[index] = "--count"
      throw .usage(
        "'-c' names the cache, but '\(printable(cache))' is not one",
        hint: "to count matches write: \(OptionHints.commandLine(words))")
    }
    let hasCache = environment.configuration.value(of: .cache, forCache: nil) != nil
    guard let operand else {
      if hasCache { return }
      throw .usage(
        "'\(printable(pattern))' is a cache, but the pattern comes first",
        hint: "write: urlcache-admin grep TEXT \(ShellText.word(ByteString(pattern)))")
    }
    if environment.isKnownCache(operand) { return }
    if hasCache, (try? EntryNames.Name(written: operand)) != nil { return }
    var words = environment.words
    guard let first = words.firstIndex(of: pattern), let second = words.lastIndex(of: operand),
      first < second
    else { return }
    words.swapAt(first, second)
    throw .usage(
      "the pattern comes first, but '\(printable(pattern))' is a cache",
      hint: "write: \(OptionHints.commandLine(words))")
  }
}

/// Options of `grep` that are accepted without being shown in the help.
///
/// Some ask for what this command does anyway: it searches all entries, and shows where each match is.
struct GrepSynonyms: ParsableArguments {
  @Flag(
    name: [.customShort("r"), .customShort("R"), .customLong("recursive")], help: .hidden)
  var isRecursive = false

  @Flag(
    name: [.customShort("n"), .customLong("line-number")],
    help: "Has no effect: line numbers are always shown.")
  var showsNumbers = false

  @Flag(name: [.customShort("H"), .customLong("with-filename")], help: .hidden)
  var showsNames = false

  @Flag(
    name: [.customShort("P"), .customLong("perl-regexp"), .customLong("extended-regexp")],
    help: .hidden)
  var expression = false

  @Flag(name: .customLong("word-regexp"), help: .hidden)
  var word = false

  @Flag(name: [.customShort("a"), .customLong("text")], help: .hidden)
  var binary = false
}
