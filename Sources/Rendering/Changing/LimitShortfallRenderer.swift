public import Administration
import Bytes
import JSON
public import ResponseStorage

/// Renders the limits that a cache cannot meet, with the reasons.
public struct LimitShortfallRenderer: Sendable {
  /// The effect on the cache.
  public enum Outcome: Sendable {
    /// Nothing was removed.
    case refused
    /// Nothing would be removed.
    case wouldRefuse
    /// Entries were removed, or would be, but the limits are still not met.
    case notEnough
  }

  /// The words with which a command for a POSIX shell can name the cache and its limits again.
  public struct CommandWords: Hashable, Sendable {
    /// The options that name the cache. Use its configured name where it has one: the rules and limits of a
    /// configuration only apply to that name.
    public var cache: String
    /// The value of `--min-free`, if there is such a limit.
    public var minFree: String?

    /// Creates words.
    public init(cache: String, minFree: String? = nil) {
      (self.cache, self.minFree) = (cache, minFree)
    }
  }

  private let shortfall: LimitShortfall
  private let store: StoreDescription
  private let command: CommandWords

  /// Creates a renderer for a shortfall of a store.
  public init(_ shortfall: LimitShortfall, of store: StoreDescription, _ command: CommandWords) {
    (self.shortfall, self.store, self.command) = (shortfall, store, command)
  }

  /// Appends the unmet limits for people, with the reasons and hints.
  public func appendText(_ outcome: Outcome, into buffer: inout TextBuffer) {
    switch outcome {
    case .refused: buffer.append("cannot meet the limits, so nothing was removed: ")
    case .wouldRefuse: buffer.append("cannot meet the limits, so nothing would be removed: ")
    case .notEnough: buffer.append("the limits were not met: ")
    }
    buffer.append(shortfall.unmet.map { Self.text(of: $0, outcome) }.joined(separator: "; "))
    buffer.append("\n")
    for blocker in shortfall.blockers {
      buffer.append("  \(text(of: blocker))\n")
      buffer.append("  hint: \(hint(about: blocker))\n")
    }
    // With best effort, this has just been done.
    if outcome != .notEnough {
      buffer.append("hint: use '--best-effort' to remove as much as possible\n")
    }
  }

  /// Writes the members `unmet` and `blocked_by`.
  func write(to json: inout JSONWriter) {
    json.array("unmet", objects: shortfall.unmet) {
      $0.member("limit", $1.kind.rawValue)
      $0.member("wanted", $1.limit)
      $0.member("reachable", $1.reachable)
    }
    json.array("blocked_by", objects: shortfall.blockers) {
      $0.member("cause", $1.cause.rawValue)
      $0.member("count", $1.count)
      $0.member("bytes", $1.bytes)
      $0.member("message", text(of: $1))
      $0.member("hint", hint(about: $1))
    }
  }

  private static func text(of unmet: UnmetLimit, _ outcome: Outcome) -> String {
    // After a removal this is the state of the cache, and before it a prediction.
    let isReached = outcome == .notEnough
    switch unmet.kind {
    case .bytes:
      let size = ByteSizeText.text(ByteCount(unmet.reachable))
      let limit = "the '--max-size' limit of \(ByteSizeText.text(ByteCount(unmet.limit)))"
      return isReached
        ? "\(size) in use exceeds \(limit)"
        : "at least \(size) would remain in use, more than \(limit)"
    case .entries:
      let entries = QuantityWords.counted(unmet.reachable, "entry", "entries")
      let verb = !isReached ? "would remain" : unmet.reachable == 1 ? "remains" : "remain"
      let limit = QuantityWords.grouped(unmet.limit)
      return "\(entries) \(verb), more than the '--max-entries' limit of \(limit)"
    case .bytesToFree:
      return "'--min-free' needs \(ByteSizeText.text(ByteCount(unmet.limit))) more, but "
        + "\(isReached ? "only" : "at most") "
        + "\(ByteSizeText.text(ByteCount(unmet.reachable))) can be freed"
    }
  }

  private func text(of blocker: LimitShortfall.Blocker) -> String {
    let bytes = ByteSizeText.text(blocker.bytes)
    let count = blocker.count ?? 0
    return switch blocker.cause {
    case .youngOrphans:
      "\(QuantityWords.counted(count, "orphan is", "orphans are")) younger than ten minutes (\(bytes))"
    case .foreignFiles:
      "\(QuantityWords.counted(count, "file", "files")) not created by URLCache (\(bytes))"
    // SQLite deletes the log when the last process closes the database, and no command can do that
    // for an app.
    case .log: "another process has the cache open, with \(bytes) in the write-ahead log"
    case .notSelected:
      "the selection excludes \(QuantityWords.counted(count, "entry", "entries")) (\(bytes))"
    case .keptByRule: "rules keep \(QuantityWords.counted(count, "entry", "entries")) (\(bytes))"
    case .pinned: "pins keep \(QuantityWords.counted(count, "entry", "entries")) (\(bytes))"
    case .notARegularFile:
      "\(QuantityWords.counted(count, "entry is not a regular file", "entries are not regular files"))"
    // A limit below the size of an empty database could never be met, however many entries are
    // removed.
    case .database: "an empty database needs \(bytes)"
    case .fileSystem: "\(bytes) must be freed elsewhere on the file system"
    }
  }

  /// A hint with a command for a POSIX shell.
  private func hint(about blocker: LimitShortfall.Blocker) -> String {
    switch blocker.cause {
    case .youngOrphans:
      // Only the app's process knows whether it is about to store an entry for such a file.
      "run again in ten minutes: urlcache-admin enforce \(command.cache)\(limits)"
    case .foreignFiles, .notARegularFile: "list them with: urlcache-admin check \(command.cache)"
    case .log: "close the app, then run: urlcache-admin enforce \(command.cache)\(limits)"
    case .notSelected:
      "preview without the selection: urlcache-admin enforce -n \(command.cache)\(limits)"
    case .keptByRule:
      "see which rule keeps which entry: urlcache-admin rules test \(command.cache)"
    case .pinned:
      "list them with: urlcache-admin list --pinned \(command.cache)"
    case .database: "see what uses the space: urlcache-admin usage \(command.cache)"
    case .fileSystem:
      // The path comes from the file system and may contain anything. People paste hints into a
      // shell, so it is quoted, and `--` keeps it from being an option.
      "see what uses the space: df -h -- \(ShellText.word(ByteString(store.path)))"
    }
  }

  /// The limits as options.
  private var limits: String {
    shortfall.unmet.map { unmet in
      // As the user wrote it: the limit in bytes was computed from the free space of this moment.
      let value = unmet.kind == .bytesToFree ? command.minFree ?? "…" : "\(unmet.limit)"
      return " --\(unmet.kind.rawValue) \(value)"
    }.joined()
  }

}
