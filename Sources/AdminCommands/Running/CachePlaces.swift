import Administration
import Files

/// The places of the configured caches, and of others with pins, by which a cache has its settings, its rules and its pins
/// even if a command line names it by its path. Looked up once: of thousands of caches, each may have other names.
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

  /// Returns the name of the configured cache that a word of the command line means, by its name or by its path; `nil` if
  /// it means none.
  ///
  /// - Parameter word: The word; `nil` for the configured default.
  func name(of word: String?) -> String? {
    guard let word = word ?? configuration.value(of: .cache, forCache: nil)?.text, !word.isEmpty
    else { return nil }
    return configuration.path(ofCache: word) != nil ? word : configuredNames(ofCacheAt: word).first
  }

  /// Returns the names of the sections with the settings of the cache at a path, in the order of the configuration.
  func configuredNames(ofCacheAt path: String) -> [String] {
    names(ofCacheAt: path).filter { configuration.path(ofCache: $0) != nil }
  }

  /// Returns the names of the cache at a path, in the order of the configuration, and the path under which it is pinned:
  /// settings and pins apply however the cache is named.
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
