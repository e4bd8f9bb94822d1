import Administration
import ArgumentParser
import Bytes
import Files
import Matching
import Rendering
import ResponseArchives
import ResponseStorage

/// A failure, as reported to the user.
struct CommandFailure: Error {
  /// The exit status.
  var status: ExitStatus

  /// The kind of failure, as a word for programs.
  var kind: String

  /// What happened, to what.
  var message: String

  /// One suggestion, with a command that works.
  var hint: String?

  /// The file that the failure is about.
  var path: String?

  init(
    _ status: ExitStatus, kind: String, _ message: String, hint: String? = nil, path: String? = nil
  ) {
    self.status = status
    self.kind = kind
    self.message = message
    self.hint = hint
    self.path = path
  }

  /// The cache to change is an archive.
  static func archive(at path: String) -> CommandFailure {
    CommandFailure(
      .usage, kind: "usage", "'\(path)' is an archive, which cannot be changed",
      hint: "import it into a new cache with 'urlcache-admin import ARCHIVE -c NEW'",
      path: path)
  }

  /// Neither limits nor rules are given.
  static let noLimits = CommandFailure(
    .usage, kind: "no-limits", "no limit given and no rule configured",
    hint: "give '--max-size', '--max-entries', '--max-age', '--max-entry-size' or '--min-free'")

  /// Neither limits nor rules are given; the hint is the command line with a limit that was meant, or with an example.
  static func noLimits(in words: [String]) -> CommandFailure {
    var failure = noLimits
    let hasCache = words.dropFirst().contains { $0.utf8.first != UInt8(ascii: "-") }
    guard hasCache, !words.contains("--all-caches") else { return failure }
    let isSize = { (word: String) in
      (try? WrittenValue.size(word)) != nil && !word.utf8.allSatisfy(\.isASCIIDigit)
    }
    if let index = words.firstIndex(where: isSize) {
      let line = words[..<index] + ["--max-size"] + words[index...]
      failure.hint = "did you mean: \(OptionHints.commandLine(Array(line)))"
    } else {
      let looking = words.filter { !["-y", "--yes", "-n", "--dry-run"].contains($0) }
      let line = OptionHints.commandLine(looking, adding: ["--max-size", "100MiB", "--dry-run"])
      failure.hint = "see what a limit would remove with: \(line)"
    }
    return failure
  }

  /// The command line is wrong.
  static func usage(_ message: String, hint: String? = nil) -> CommandFailure {
    CommandFailure(.usage, kind: "usage", message, hint: hint)
  }
}

extension CommandFailure {
  /// Creates a failure from an error of a store.
  ///
  /// - Parameter cacheNames: The names of caches, one of which the user may have meant.
  init(_ error: StoreError, cacheNames: [String] = []) {
    let facts: (status: ExitStatus, kind: String, hint: String?) =
      switch error.code {
      case .notFound:
        (
          .noInput, "not-found",
          Self.hint(ofNames: cacheNames, like: error.path)
        )
      case .notACache:
        (
          .data, "not-a-cache",
          Self.recovery(ofDatabaseAt: error.path).map {
            "if it is a damaged Cache.db, recover what is still readable with: \($0)"
          }
            ?? Self.search(below: error.path)
            ?? "give an app's Cache.db, its folder, or the folder of a Foundation or WebKit cache with '-c PATH'"
        )
      case .damaged:
        (
          .data, "damaged",
          Self.recovery(ofDatabaseAt: error.path).map {
            "recover what is still readable with: \($0)"
          } ?? "list what is still readable with 'urlcache-admin recover --damaged PATH'"
        )
      case .unfinished:
        (
          .data, "damaged",
          "start the app that it belongs to, which finishes the transaction"
        )
      // 75 is `EX_TEMPFAIL`, which schedulers and mail systems know as a reason to try again.
      case .inUse: (.temporary, "busy", "try again, or wait longer with '--wait 30s'")
      case .inUseWithoutLock:
        (.temporary, "busy", "close the app first, or run the command without '--secure'")
      case .changedWhileReading: (.temporary, "changed", "run the command again")
      // No hint at `sudo`: files that root creates in a cache cannot be replaced by the app later.
      case .accessDenied:
        (
          .noPermission, "no-permission",
          Self.hint(onRefusal: error.reason) ?? "run the command as the owner of the cache"
        )
      case .inputOutput: (.inputOutput, "io", nil)
      case .noRoom:
        (.inputOutput, "no-room", "free space on its file system, then run the command again")
      case .unsupported:
        (
          .data, "unsupported",
          "'urlcache-admin list' can read it; only the program that owns it can clear it"
        )
      case .inapplicable: (.data, "unsupported", nil)
      case .unreadable:
        (
          .data, "unsupported",
          "make a copy in UTF-8: sqlite3 Cache.db .dump | sqlite3 COPY.db"
        )
      // An answer and no failure: the cache was read, and has no such entry.
      case .noSuchResponse:
        // With a reason, the entry is there and something else is wrong with it.
        (
          .no, error.reason == nil ? "no-such-entry" : "no-such-part",
          error.reason == nil ? "list the entries with 'urlcache-admin list'" : nil
        )
      }
    if error.code == .notFound, error.reason == nil, let path = error.path {
      self = .noCache(path, hint: facts.hint)
      return
    }
    self.init(
      facts.status, kind: facts.kind, error.description, hint: facts.hint, path: error.path)
  }

  /// Returns a hint with the command that finds caches below a folder; `nil` if a path is none.
  private static func search(below path: String?) -> String? {
    guard let path, let status = try? FileStatus.of(path), status.kind == .directory else {
      return nil
    }
    return "find caches below it with: \(OptionHints.commandLine(["discover", path]))"
  }

  /// Returns the command that saves what is left in a damaged `Cache.db`; `nil` if there is none at a path, which can
  /// also be that of a body file or a Foundation cache.
  private static func recovery(ofDatabaseAt path: String?) -> String? {
    guard let path else { return nil }
    let isNamed =
      path == "Cache.db" || path.utf8.reversed().starts(with: "/Cache.db".utf8.reversed())
    guard let status = try? FileStatus.of(isNamed ? path : "\(path)/Cache.db"),
      status.kind == .regular, status.size > 0
    else { return nil }
    return RepairHint.recovery(ofCacheAt: path)
  }

  /// Returns a hint with the existing names if the user may have meant one of them; `nil` for a path.
  private static func hint(ofNames names: [String], like name: String?) -> String? {
    // The name of a cache has no slash, so this is a path.
    guard let name, !names.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
    // A wrong name of a cache looks like a path that does not exist, and "not found" alone would
    // send the user to look for a file.
    if let nearest = Spelling.nearest(to: name, among: names) {
      return "did you mean '\(nearest)'?"
    }
    return "configured names: \(names.joined(separator: ", "))"
  }

  /// Creates a failure from an error in decoding a body.
  init(_ error: BodyDecodingError) {
    self.init(
      .data, kind: error.isTooLarge ? "too-large" : "not-decodable",
      error.description,
      hint: error.isTooLarge
        ? "raise the limit with '--decoded-limit 4GiB'"
        : "write the stored bytes without '--decoded'"
    )
  }

  /// Creates a failure from a regular expression that exceeded a limit.
  init(_ error: RegularExpression.Overrun) {
    let need =
      switch error.limit {
      case .steps: "takes too many steps"
      case .memory: "needs too much memory"
      }
    self = .usage(
      "the regular expression '\(error.pattern)' \(need) on a URL of \(error.textLength) bytes",
      hint: "nested repetitions such as '(a+)+' can take forever; "
        + "use '--glob' instead")
  }

  /// Creates a failure from an error of the operating system.
  init(_ error: FileError) {
    guard !error.isOfTemporaryFile else {
      self.init(ofTemporaryFile: error)
      return
    }
    let (status, kind): (ExitStatus, String) =
      switch error.kind {
      case .notFound: (.noInput, "not-found")
      case .accessDenied: (.noPermission, "no-permission")
      // A symbolic link in place of an output file could lead anywhere, and following it could
      // overwrite what it leads to.
      case .exists, .symbolicLink: (.cannotCreate, "cannot-create")
      case .noRoom: (.inputOutput, "no-room")
      case .busy: (.temporary, "busy")
      case .brokenPipe, .other: (.inputOutput, "io")
      }
    self.init(status, kind: kind, error.description, path: error.path)
    if error.kind == .accessDenied { hint = Self.hint(onRefusal: error.reason) }
  }

  /// Returns what to do about a refusal of the system; `nil` if its reason says enough.
  ///
  /// - Parameter reason: The message of the system.
  static func hint(
    onRefusal reason: String?, on system: StoreSearch.System = .current
  ) -> String? {
    guard system == .apple, reason == FileError.protectionReason else { return nil }
    // macOS asks the terminal, as the program that is responsible for what runs in it.
    return
      "macOS protects this place: in System Settings > Privacy & Security > Full Disk Access,"
      + " switch on your terminal (for a launchd job, the signed 'urlcache-admin' itself),"
      + " and start it again"
  }

  /// Creates a failure from an error of an unnamed file, which has the path of its folder.
  private init(ofTemporaryFile error: FileError) {
    // SQLite looks at this variable first, and other temporary files ignore it.
    let isOfSQLite = error.path == CurrentProcess.variable("SQLITE_TMPDIR")
    let variable = isOfSQLite ? "SQLITE_TMPDIR" : "TMPDIR"
    // Also if the folder does not exist: it is no input of the command.
    self.init(
      .inputOutput, kind: error.kind == .noRoom ? "no-room" : "io",
      "cannot keep temporary data in \(error)",
      hint: "set \(variable) to a folder with more room: \(variable)=FOLDER",
      path: error.path)
  }
}

/// Whether errors are written as JSON objects.
///
/// A parsed command knows its format. For a command line that cannot be parsed, this has ArgumentParser read only
/// `--format` and `--json`, so that the last one counts, and none after `--`.
struct ErrorFormat: ParsableArguments {
  @Option(name: [.customShort("f"), .long]) var format: String?
  @Flag var json = false
  @Argument(parsing: .allUnrecognized) var others: [String] = []

  /// Whether a command line that cannot be parsed requests JSON.
  static func isJSON(in words: [String]) -> Bool {
    guard let options = try? ErrorFormat.parse(words) else { return false }
    return options.json || options.format == "json"
  }
}

extension CommandFailure {
  /// Creates a failure from an error in a configuration file.
  init(_ error: ConfigurationError) {
    self.init(
      .configuration, kind: "configuration", error.message, hint: error.hint, path: error.place.path
    )
  }
}

extension ConfigurationError {
  /// The error, with a mark below its position.
  var message: String {
    "\(place.shown): \(printable(reason))\n"
      + MarkedText.text(place.text, marking: place.range)
  }
}

extension ConfigurationPlace {
  /// The file, line and column.
  var shown: String { "\(printable(path)):\(line):\(column)" }
}

extension Configuration {
  /// Rejects a configuration with any error: ignoring an unknown setting could remove what it protects.
  func checkAll(in environment: CommandEnvironment) throws(CommandFailure) {
    if let error = allErrors.first { throw CommandFailure(error) }
    for setting in Setting.allCases {
      // Values in files were checked when the files were read, and have a position there. Variables
      // have none.
      guard let value = value(of: setting, forCache: nil), case .variable(let name) = value.origin
      else { continue }
      do throws(WrittenValueError) { try setting.check(value.text) } catch {
        throw CommandFailure(
          .configuration, kind: "configuration",
          "invalid value of the environment variable \(name): '\(printable(error.text))' \(error.reason)",
          hint: error.hint)
      }
    }
  }
}
