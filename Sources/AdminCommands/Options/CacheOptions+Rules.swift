import Administration
import Bytes

extension CacheOptions {
  /// Returns the rules for the cache, with ages relative to `now`.
  func rules(at now: Timestamp, in environment: CommandEnvironment) -> EntryRules {
    // By the name that the user gave. Unlike pins, rules and limits apply only to a cache that is
    // named so.
    let rules = environment.configuration.rules(forCache: name(in: environment))
    for note in rules.flatMap(\.match.notes) { environment.noteOnce(note) }
    return EntryRules(rules, at: now)
  }
}
