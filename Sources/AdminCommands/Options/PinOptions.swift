import Administration
import ArgumentParser
import Bytes
import Files
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

/// The places of the configured caches, and of others with pins, looked up once: of thousands of caches, each may have
/// other names.
final class CachePlaces {
  private let configuration: Configuration
  private lazy var places =
    configuration.cacheNames.map { name in
      (name, configuration.path(ofCache: name).map { Self.place(ofCacheAt: $0.text) } ?? [])
    } + configuration.pinnedPaths.map { ($0, Self.place(ofCacheAt: $0)) }
  private lazy var namesByPlace = Dictionary(grouping: places.indices) { places[$0].1 }
  private lazy var namesByFile = Dictionary(grouping: places.indices) {
    Self.identity(ofCacheAt: places[$0].1)
  }

  init(of configuration: Configuration) {
    self.configuration = configuration
  }

  /// Returns the names of the cache at a path, in the order of the configuration, and the path under which it is pinned:
  /// pins apply however the cache is named.
  func names(ofCacheAt path: String) -> [String] {
    let place = Self.place(ofCacheAt: path)
    var indexes = Set(namesByPlace[place] ?? [])
    // The path alone is not enough: a hard link, or a mount in two places, gives one database two
    // paths.
    if let file = Self.identity(ofCacheAt: place) { indexes.formUnion(namesByFile[file] ?? []) }
    return indexes.sorted().map { places[$0].0 }
  }

  /// Returns the identity of the database file, which hard links share; `nil` for a Foundation cache, whose folder
  /// cannot have hard links.
  private static func identity(ofCacheAt place: [UInt8]) -> [UInt64]? {
    let path = String(decoding: place, as: UTF8.self)
    let database = (try? FileStatus.of("\(path)/Cache.db")) ?? (try? FileStatus.of(path))
    return database?.kind == .regular ? database?.identity : nil
  }

  /// Returns the path of a cache with symbolic links resolved, and without the name of the database.
  static func place(ofCacheAt path: String) -> [UInt8] {
    var bytes = Array((Directory.resolvedPath(path) ?? absolutePath(path)).utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    let database = Array("/Cache.db".utf8)
    return bytes.suffix(database.count) == database[...] ? bytes.dropLast(database.count) : bytes
  }
}
