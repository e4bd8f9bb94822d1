import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

/// What an unfinished line says of the cache.
private struct CompletedLine: ParsableArguments {
  @Option(name: [.short, .customLong("cache")]) var cache: String?
  @Option var config: String?
  @Argument(parsing: .allUnrecognized) var others: [String] = []
}

extension CompletionKind {
  /// What this program completes itself when a shell asks for it, as a ``CompletionRequest``.
  ///
  /// ArgumentParser would call the closure without any environment, so it is never asked.
  static var requested: CompletionKind { .custom { _, _, _ in [] } }
}

/// What a shell asks for when somebody presses the tabulator key: words that can stand at the cursor.
///
/// The scripts of ArgumentParser ask with `---completion VERB… -- OPTION INDEX CURSOR WORD…`: the index of the
/// word that the cursor is in, the number of characters before the cursor, and all words of the line as typed.
struct CompletionRequest {
  /// More hosts than anybody looks through.
  private static let mostHosts = 10_000
  /// How long somebody waits for the tabulator key.
  private static let mostMilliseconds: Int64 = 700

  private let verbs: [String]
  private let option: String
  private let line: CompletedLine?
  /// What is before the cursor of the value that is completed.
  private let typed: String

  /// Reads a request; `nil` if it is none.
  ///
  /// - Parameters:
  ///   - words: The command line without the name of the program.
  ///   - home: The folder that `~` stands for.
  init?(_ words: some Collection<String>, home: String?) {
    let parts = words.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.first == "---completion", parts.count == 2 else { return nil }
    let question = Array(parts[1])
    guard question.count > 3, let index = Int(question[1]), let cursor = Int(question[2]) else {
      return nil
    }
    let line = question[3...]
    verbs = Array(parts[0].dropFirst())
    option = question[0]
    // What only the shell itself could tell is told by no other word either.
    let words = line.dropFirst().map { shellWord($0, home: home) ?? "" }
    self.line = try? CompletedLine.parse(words)
    let word = line.dropFirst(max(index, 0)).first ?? ""
    typed = Self.value(in: String(word.unicodeScalars.prefix(max(cursor, 0))))
  }

  /// What stands behind `=` in a word such as `--host=a`; all of any other.
  private static func value(in word: String) -> String {
    guard word.utf8.starts(with: "--".utf8),
      let sign = word.utf8.firstIndex(of: UInt8(ascii: "="))
    else { return word }
    return String(word[word.utf8.index(after: sign)...])
  }

  /// Writes the words that can stand at the cursor, one a line.
  ///
  /// Whatever is wrong, there are none: a message would be written into the line that somebody types.
  func answer(in environment: CommandEnvironment) {
    var words = candidates(in: environment)
    // The script for zsh passes over the last line.
    if environment.variable("SAP_SHELL") == "zsh" { words.append(" ") }
    try? environment.write(Array((words.joined(separator: "\n") + "\n").utf8))
  }

  private func candidates(in environment: CommandEnvironment) -> [String] {
    switch option {
    case "-c", "--cache":
      (try? configuration(in: environment).cacheNames.filter { Self.isPlain(ByteString($0)) }) ?? []
    case "--host":
      ((try? hosts(in: environment)) ?? []).sorted().compactMap(\.string)
    case "--columns":
      Self.columns.filter { !chosen.contains($0) }.map { head + $0 }
    case "--sort":
      Self.columns.map { typed.utf8.first == UInt8(ascii: "-") ? "-" + $0 : $0 }
    default: []
    }
  }

  private static var columns: [String] { Column.all.compactMap(\.name.string) }

  /// The columns before the one that is completed, with the commas behind them.
  private var head: String {
    let comma = typed.utf8.lastIndex(of: UInt8(ascii: ","))
    return comma.map { String(typed[...$0]) } ?? ""
  }

  /// The columns before the one that is completed.
  private var chosen: [String] {
    head.utf8.split(separator: UInt8(ascii: ",")).compactMap { String($0) }
  }

  private func configuration(in environment: CommandEnvironment) throws -> Configuration {
    try environment.readingConfiguration(line?.config)
  }

  /// The hosts of the entries of the cache that the line names, as far as they are found in time.
  private func hosts(in environment: CommandEnvironment) throws -> Set<ByteString> {
    // What these select from is an archive, or two.
    guard verbs != ["import"], verbs != ["diff"] else { return [] }
    let configuration = try configuration(in: environment)
    let name =
      line?.cache ?? configuration.value(of: .cache, forCache: nil)?.text ?? ""
    let path = configuration.path(ofCache: name)?.text ?? name
    // An archive would have to be read as a whole.
    guard !path.isEmpty,
      !ArchiveOpening(path: path, temporaryFolder: environment.temporaryFolder).isArchive
    else { return [] }
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

  /// Whether no shell can take a word from a cache for anything but itself: not for an option, a pattern, an
  /// expansion, or an order to the terminal.
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
