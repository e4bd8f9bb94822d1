import Administration
import Bytes

extension CacheOptions {
  /// The policy for the cache.
  func policy(at now: Timestamp, in environment: CommandEnvironment) -> Administration.Policy {
    let rules = environment.configuration.rules(forCache: name(in: environment))
    for note in rules.flatMap(\.match.notes) { environment.noteOnce(note) }
    return Administration.Policy(rules.map { $0.rule(at: now) })
  }
}
