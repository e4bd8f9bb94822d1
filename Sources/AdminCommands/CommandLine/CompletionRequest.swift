import Administration
import ArgumentParser
import Bytes
import Files
import Rendering
import ResponseArchives
import ResponseStorage

/// The parts of an unfinished command line that identify the cache.
private struct CompletedLine: ParsableArguments {
  @Option(name: [.short, .customLong("cache")]) var cache: String?
  @Option var config: String?
  @Argument(parsing: .allUnrecognized) var others: [String] = []
}

extension CompletionKind {
  /// Values that this program completes itself, when a shell sends a ``CompletionRequest``.
  ///
  /// The closure is never called, because ArgumentParser would call it without an environment.
  static var requested: CompletionKind { .custom { _, _, _ in [] } }
}

/// A request of a shell for words that can stand at the cursor.
///
/// The scripts of ArgumentParser call `---completion VERB… -- OPTION INDEX CURSOR WORD…`: the index of the word with
/// the cursor, the number of characters before the cursor, and all words of the line as typed.
struct CompletionRequest {
  /// More hosts than any user scrolls through.
  private static let mostHosts = 10_000
  /// The time limit: users expect an immediate response to the Tab key.
  private static let mostMilliseconds: Int64 = 700

  private let verbs: [String]
  private let option: String
  private let line: CompletedLine?
  /// The part before the cursor of the value to complete.
  private let typed: String

  /// Parses a request; `nil` if the words are none.
  ///
  /// - Parameters:
  ///   - words: The command line without the name of the program.
  ///   - home: The folder that `~` stands for.
  init?(_ words: some Collection<String>, home: String?) {
    // The words of the user may contain `--` too, so only the first one counts.
    let parts = words.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.first == "---completion", parts.count == 2 else { return nil }
    let question = Array(parts[1])
    guard question.count > 3, let index = Int(question[1]), let cursor = Int(question[2]) else {
      return nil
    }
    let line = question[3...]
    verbs = Array(parts[0].dropFirst())
    option = question[0]
    // Replace words that need shell evaluation by empty ones, to keep the positions.
    let words = line.dropFirst().map { shellWord($0, home: home) ?? "" }
    self.line = try? CompletedLine.parse(words)
    let word = line.dropFirst(max(index, 0)).first ?? ""
    // The shells count characters, and not grapheme clusters as `String` would.
    typed = Self.value(in: String(word.unicodeScalars.prefix(max(cursor, 0))))
  }

  /// Returns the part after `=` of a word such as `--host=a`; other words unchanged.
  private static func value(in word: String) -> String {
    guard word.utf8.starts(with: "--".utf8),
      let sign = word.utf8.firstIndex(of: UInt8(ascii: "="))
    else { return word }
    return String(word[word.utf8.index(after: sign)...])
  }

  /// Writes the words that can stand at the cursor, one per line.
  ///
  /// On any error it writes none: a message would end up in the command line of the user.
  func answer(in environment: CommandEnvironment) {
    var words = candidates(in: environment)
    // The zsh script drops the last line.
    if environment.variable("SAP_SHELL") == "zsh" { words.append(" ") }
    try? environment.write(Array((words.joined(separator: "\n") + "\n").utf8))
  }

  private func candidates(in environment: CommandEnvironment) -> [String] {
    switch option {
    // The only operand that this program completes is the cache.
    case "-c", "--cache", "positional@0", "positional@1":
      // bash evaluates what a completion answers, so names with special characters are left out
      // rather than quoted for each shell.
      (try? configuration(in: environment).cacheNames.filter { Self.isPlain(ByteString($0)) }) ?? []
    case "--host":
      ((try? hosts(in: environment)) ?? []).sorted().compactMap(\.string)
    case "--columns":
      // A shell replaces the whole word, so what was typed before the last comma is repeated.
      Self.columns.filter { !chosen.contains($0) }.map { head + $0 }
    case "--sort":
      Self.columns.map { typed.utf8.first == UInt8(ascii: "-") ? "-" + $0 : $0 }
    default: []
    }
  }

  private static var columns: [String] { EntryField.columns.map(\.name) }

  /// The text up to the last comma before the column to complete.
  private var head: String {
    let comma = typed.utf8.lastIndex(of: UInt8(ascii: ","))
    return comma.map { String(typed[...$0]) } ?? ""
  }

  /// The columns before the one to complete.
  private var chosen: [String] {
    head.utf8.split(separator: UInt8(ascii: ",")).compactMap { String($0) }
  }

  private func configuration(in environment: CommandEnvironment) throws -> Configuration {
    try environment.readingConfiguration(line?.config)
  }

  /// Returns the hosts in the cache of the line, as far as they are found in time.
  private func hosts(in environment: CommandEnvironment) throws -> Set<ByteString> {
    // These commands select entries of archives.
    guard verbs != ["import"], verbs != ["diff"] else { return [] }
    let configuration = try configuration(in: environment)
    let name =
      line?.cache ?? operand(configuration)
      ?? configuration.value(of: .cache, forCache: nil)?.text ?? ""
    let path = configuration.path(ofCache: name)?.text ?? name
    // Reading a whole archive would take too long.
    // Completion must never be the reason why the terminal hangs.
    guard !path.isEmpty,
      !ArchiveOpening(path: path).isArchive
    else { return [] }
    // Do not wait for a lock: the user is waiting for the Tab key.
    let source = try environment.openSource(path, 0, environment.now).source
    var (hosts, seen): (Set<ByteString>, Int) = ([], 0)
    let end = environment.steadyMilliseconds() + Self.mostMilliseconds
    try source.scan(.url) { response in
      if let host = response.url.flatMap({ CanonicalURL.host(of: $0) }), Self.isPlain(host) {
        hosts.insert(host)
      }
      seen += 1
      let isLate = seen & 0x3FF == 0 && environment.steadyMilliseconds() > end
      return isLate || hosts.count == Self.mostHosts ? .stop : .next
    }
    return hosts
  }

  /// Returns the first operand of the line that can be a cache.
  private func operand(_ configuration: Configuration) -> String? {
    line?.others.dropFirst(verbs.count).first { word in
      !word.isEmpty && word.utf8.first != UInt8(ascii: "-")
        && (configuration.path(ofCache: word) != nil || (try? FileStatus.of(word)) != nil)
    }
  }

  /// Whether a word from a cache is safe in any shell: it cannot be an option, a pattern, an expansion, or a terminal
  /// escape.
  private static func isPlain(_ word: ByteString) -> Bool {
    let isLetter = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return word.bytes.count <= 255 && word.bytes.first.map(isLetter) ?? false
      && word.bytes.allSatisfy {
        isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
      }
  }
}
