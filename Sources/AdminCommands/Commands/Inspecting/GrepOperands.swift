import Administration
import Bytes
import Rendering

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
