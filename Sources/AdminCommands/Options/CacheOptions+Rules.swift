import Administration
import Bytes

extension CacheOptions {
  /// The rules for the cache, with ages counted to a moment.
  func rules(at now: Timestamp, in environment: CommandEnvironment) -> EntryRules {
    let rules = environment.configuration.rules(forCache: name(in: environment))
    for note in rules.flatMap(\.match.notes) { environment.noteOnce(note) }
    return EntryRules(rules, at: now)
  }
}
