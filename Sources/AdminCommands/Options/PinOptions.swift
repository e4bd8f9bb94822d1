import Administration
import ArgumentParser
import Bytes
import Rendering

/// The options for pinned entries, of commands that remove entries.
struct PinOptions: ParsableArguments {
  @Flag(help: "Also remove pinned entries, which are otherwise always kept.")
  var includePinned = false

  /// Returns the entries to keep although they are selected.
  func pins(
    of cache: CacheOptions, in environment: CommandEnvironment
  ) throws(CommandFailure) -> EntryNames {
    if includePinned { return EntryNames() }
    let pins = try cache.pins(in: environment)
    // A file that was written by hand may have patterns, and its author believes that they protect entries.
    for name in pins.names where name.looksLikePattern {
      guard case .url(let url) = name else { continue }
      environment.noteOnce(
        "the pin '\(EntryNames.text(SecretPolicy().url(url, for: .people)))' is not a pattern: it protects"
          + " only an entry with exactly this URL; to keep all that match, write a rule with"
          + " 'match.glob' and 'action = \"keep\"'")
    }
    return pins
  }
}

extension CacheOptions {
  /// Returns the entries that the configuration pins in the cache, even if the cache is given by path.
  func pins(in environment: CommandEnvironment) throws(CommandFailure) -> EntryNames {
    let names = environment.places.names(ofCacheAt: try path(in: environment))
    return EntryNames(
      environment.configuration.pins(forCacheNamed: names).map { .url($0.url) })
  }
}

extension CacheOptions {
  /// Returns the classes of entries according to the configuration.
  func classes(
    at now: Timestamp, in environment: CommandEnvironment
  ) throws(CommandFailure) -> EntryClasses {
    EntryClasses(rules(at: now, in: environment), pins: try pins(in: environment))
  }
}
