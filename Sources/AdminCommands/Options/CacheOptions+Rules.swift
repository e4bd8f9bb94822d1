import Administration
import Bytes

extension CacheOptions {
  /// Returns the rules for the cache, with ages relative to `now`.
  func rules(at now: Timestamp, in environment: CommandEnvironment) -> EntryRules {
    let rules = environment.configuration.rules(forCache: name(in: environment))
    for note in rules.flatMap(\.match.notes) { environment.noteOnce(note) }
    return EntryRules(rules, at: now)
  }
}
