import Administration
import ArgumentParser
import Files
import ResponseArchives

extension URLCacheAdmin.Import {
  /// What an operand is.
  private enum Role {
    case archive, cache, missing
  }

  /// Takes the cache from the operands, before or after the archive, if only one of the two can be it.
  mutating func takeOperands(in environment: CommandEnvironment) throws {
    // A URL or an id is an entry, and what follows `--` is never the cache.
    guard cache.cache == nil, let word = selection.entries.first,
      selection.entries.count > environment.operandsAfterTerminator,
      (try? EntryNames.Name(written: word)) == nil
    else { return }
    switch (role(of: file, in: environment), role(of: word, in: environment)) {
    case (.archive, .cache), (.missing, .cache):
      cache.cache = word
    case (.cache, .archive),
      (.cache, .missing) where Self.looksLikeArchive(word):
      (cache.cache, file) = (file, word)
    case (.cache, .cache):
      throw CommandFailure.usage(
        "'\(printable(file))' and '\(printable(word))' are both caches",
        hint: "to add the entries of the first to the second: "
          + line(from: file, into: word, in: environment))
    case (.archive, .archive):
      throw CommandFailure.usage(
        "'\(printable(file))' and '\(printable(word))' are both archives",
        hint: "import one after the other: "
          + OptionHints.commandLine(["import", file, "-c", "CACHE"]))
    case (.missing, .archive),
      (.missing, .missing) where Self.looksLikeArchive(word):
      throw CommandFailure.usage(
        "there is no cache at '\(printable(file))'",
        hint: "to create it: \(line(from: word, into: file, in: environment))")
    case (.archive, .missing), (.cache, .missing), (.missing, .missing):
      throw CommandFailure.usage(
        "'\(printable(word))' is neither a URL nor an id",
        hint: "name the cache with '-c': \(line(from: file, into: word, in: environment))")
    }
    selection.entries.removeFirst()
    if let cache = cache.cache {
      try environment.refuseTwoMeanings(of: cache) { _ in "-c \(cache)" }
    }
  }

  private func role(of word: String, in environment: CommandEnvironment) -> Role {
    if word == "-" { return .archive }
    let opening = ArchiveOpening(path: word, temporaryFolder: environment.temporaryFolder)
    if (try? FileStatus.of(word)) != nil, opening.isArchive { return .archive }
    return environment.isKnownCache(word) ? .cache : .missing
  }

  private static func looksLikeArchive(_ word: String) -> Bool {
    ExportFormat(ofFileNamed: word) != nil
  }

  /// Returns the command line with the two operands in their places.
  private func line(
    from archive: String, into cache: String, in environment: CommandEnvironment
  ) -> String {
    var words = environment.words
    guard let first = words.indices.dropFirst().first(where: { words[$0] == file }),
      let second = words.indices.dropFirst(first + 1).first(where: {
        words[$0] == selection.entries[0]
      })
    else { return OptionHints.commandLine(["import", archive, "-c", cache]) }
    words[first] = archive
    words.replaceSubrange(second...second, with: ["-c", cache])
    return OptionHints.commandLine(words)
  }
}
