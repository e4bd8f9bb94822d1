import Administration
import Bytes
import ResponseStorage

/// A suggestion in words.
struct SuggestionText: Hashable, Sendable {
  /// The benefit.
  let gain: String
  /// The method. It follows the benefit.
  let how: String
  /// The command that shows the effect.
  let command: ByteString
}

extension ReportWords {
  /// All suggestions in words.
  var suggestions: [SuggestionText] { report.suggestions.map { text(of: $0) } }

  /// The text that is shown if there are no suggestions.
  var noSuggestion: String {
    if report.isDamaged {
      return
        "The database is damaged. urlcache-admin does not change it, and CFNetwork discards the cache when"
        + " it notices the damage."
    }
    return report.canBeChanged
      ? "There is nothing worth removing." : "This cache can only be read, not changed."
  }

  private func text(of suggestion: Suggestion) -> SuggestionText {
    let size = ByteSizeText.text(suggestion.bytes)
    let count = suggestion.count ?? 0
    switch suggestion.action {
    case .repair(let kinds):
      let names = kinds.map(\.rawValue).joined(separator: ",")
      let entries = QuantityWords.counted(count, "entry", "entries")
      return SuggestionText(
        gain: "Repair the cache", how: ": the app cannot use \(entries).",
        command: command("check", "--repair=\(names) --dry-run"))
    case .removeOrphans:
      let words = report.store.traits.orphanWords
      let files = QuantityWords.counted(count, words.one, words.many)
      return SuggestionText(
        gain: "Free \(size)", how: " without losing an entry: \(files).",
        command: command("check", "--repair=orphans --dry-run"))
    case .compact:
      return SuggestionText(
        gain: "Reclaim \(size)",
        how: " of unused space; no entry is removed.",
        command: command("compact", "--dry-run"))
    case .purgeSuperseded:
      return SuggestionText(
        gain: "Free about \(size)",
        how:
          ": \(QuantityWords.counted(count, "older version", "older versions")) of files that have a newer version in the cache.",
        command: command("purge", "--superseded --dry-run"))
    case .enforce(let capacity):
      return SuggestionText(
        gain: "Free \(size)", how: " to fit the capacity: orphans first, then the oldest entries.",
        command: command("enforce", "--max-size \(Self.sizeOption(capacity)) --dry-run"))
    case .purgeExpired:
      return SuggestionText(
        gain: "Free about \(size)",
        how:
          ": \(QuantityWords.counted(count, "entry", "entries")) that must be downloaded again in any case.",
        // Entries with a validator are left out: they cost a short 304, while those without must be
        // loaded again.
        command: command("purge", "\(expiryOptions)--stale --validator none --dry-run"))
    case .purgeOlder(let seconds):
      return SuggestionText(
        gain: "Free about \(size)",
        how:
          ": \(QuantityWords.counted(count, "entry", "entries")) older than \(Self.duration(seconds)).",
        command: purgeCommand(olderThan: seconds))
    }
  }

  /// Returns the command that shows what an age limit would remove.
  func purgeCommand(olderThan seconds: Int64) -> ByteString {
    command("purge", "--older-than \(Self.durationOption(seconds)) --dry-run")
  }

  /// Returns an age limit in the syntax of the command line.
  static func durationOption(_ seconds: Int64) -> String {
    seconds % 86_400 == 0 ? "\(seconds / 86_400)d" : "\(seconds / 3_600)h"
  }

  /// Returns a size in the syntax of the command line, in the largest unit in which it is a whole number.
  static func sizeOption(_ size: ByteCount) -> String {
    let units: [(String, Int64)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    let unit = units.first { size.bytes > 0 && size.bytes % $0.1 == 0 }
    return unit.map { "\(size.bytes / $0.1)\($0.0)" } ?? "\(size)"
  }

  /// Returns an age limit in words.
  static func duration(_ seconds: Int64) -> String {
    seconds % 86_400 == 0
      ? QuantityWords.counted(seconds / 86_400, "day", "days")
      : QuantityWords.counted(seconds / 3_600, "hour", "hours")
  }

  /// Returns a command for this cache, for a POSIX shell.
  ///
  /// - Parameter options: Options that need no quoting.
  func command(_ verb: String, _ options: String) -> ByteString {
    var text = TextBuffer()
    text.append("urlcache-admin \(verb) -c ")
    text.append(shellWord: Array(report.store.path.utf8))
    text.append(" \(options)")
    return ByteString(text.bytes)
  }

  /// The options for expiry rules that are not built in.
  private var expiryOptions: String {
    var text = TextBuffer()
    for rule in report.expiryRules where !UserInfoExpiry.known.contains(rule) {
      text.append("--user-info-expiry ")
      text.append(shellWord: rule.key.bytes + Array("=\(rule.seconds)".utf8))
      text.append(UInt8(ascii: " "))
    }
    return ByteString(text.bytes).string ?? ""
  }
}
