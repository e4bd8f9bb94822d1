import Administration
import ArgumentParser
import Bytes
import Files

/// What a command that removes entries does with those that are pinned.
struct PinOptions: ParsableArguments {
  @Flag(help: "Remove pinned entries, too; without it they are kept, whatever is selected.")
  var includePinned = false

  /// What is kept although it is selected.
  func pins(
    of cache: CacheOptions, in environment: CommandEnvironment
  ) throws(CommandFailure) -> EntryNames {
    includePinned ? EntryNames() : try cache.pins(in: environment)
  }
}

extension CacheOptions {
  /// The entries that the configuration pins in the cache, also if it is named by its path.
  func pins(in environment: CommandEnvironment) throws(CommandFailure) -> EntryNames {
    let names = environment.configuration.names(ofCacheAt: try path(in: environment))
    return EntryNames(
      environment.configuration.pins(forCacheNamed: names).map { .url($0.url) })
  }
}

extension CacheOptions {
  /// What the configuration says that entries of the cache are kept for.
  func classes(
    at now: Timestamp, in environment: CommandEnvironment
  ) throws(CommandFailure) -> EntryClasses {
    EntryClasses(rules(at: now, in: environment), pins: try pins(in: environment))
  }
}

extension Configuration {
  /// The names of the cache at a path: a pin holds however the cache is named.
  func names(ofCacheAt path: String) -> [String] {
    let place = Self.place(ofCacheAt: path)
    let identity = Self.identity(ofCacheAt: place)
    return cacheNames.filter { name in
      guard let other = self.path(ofCache: name).map({ Self.place(ofCacheAt: $0.text) }) else {
        return false
      }
      return other == place || identity != nil && identity == Self.identity(ofCacheAt: other)
    }
  }

  /// The database of a cache as a file, which a hard link is too; `nil` of a folder of Foundation's, which has no others.
  private static func identity(ofCacheAt place: [UInt8]) -> [UInt64]? {
    let path = String(decoding: place, as: UTF8.self)
    let database = (try? FileStatus.of("\(path)/Cache.db")) ?? (try? FileStatus.of(path))
    return database?.kind == .regular ? database?.identity : nil
  }

  /// The path of a cache without symbolic links, and without the name of a database that its folder stands for.
  private static func place(ofCacheAt path: String) -> [UInt8] {
    var bytes = Array((Directory.resolvedPath(path) ?? absolutePath(path)).utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    let database = Array("/Cache.db".utf8)
    return bytes.suffix(database.count) == database[...] ? bytes.dropLast(database.count) : bytes
  }
}
