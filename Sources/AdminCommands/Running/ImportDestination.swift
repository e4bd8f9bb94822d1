import Administration
import Files
import ResponseArchives
import ResponseStorage

/// The cache to import into: an existing cache, or one that the import creates.
///
/// It is not open: planning opens it, and closes it again before it is changed.
struct ImportDestination {
  /// The path of the cache; of a new cache, its folder.
  let path: String

  /// The cache to create; `nil` if it exists.
  let new: NewStore?

  /// The description of the existing or future cache.
  let description: StoreDescription

  /// Looks for the cache that the options name, and decides what to create if there is none.
  ///
  /// - Throws: ``StoreError``, or ``CommandFailure`` if `--create` was given and a different cache exists.
  init(
    of archive: any ResponseArchive, _ cache: CacheOptions, _ options: ImportOptions,
    in environment: CommandEnvironment
  ) throws {
    let path = try cache.path(in: environment)
    if let new = options.newStore {
      guard let there = try Self.cache(at: path, in: environment) else {
        self.init(new, at: Self.folder(ofCacheAt: path))
        return
      }
      // `--create` after an import that was killed finds the empty cache that this has made, and
      // can go on with it.
      try Self.requireEmpty(there, new, path, for: options.wordsAdding(archive, to: path))
      self.init(path: path, new: nil, description: there.description)
      return
    }
    do {
      let description = try environment.openSource(path, cache.waitMilliseconds, environment.now)
        .source.description
      self.init(path: path, new: nil, description: description)
    } catch let error as StoreError where error.code == .notFound || error.code == .notACache {
      guard let folder = try Self.folder(forNewCacheAt: path) else { throw error }
      let layout = try archive.rawLayout
      self.init(
        // Only an Apple cache has a `Cache.db`.
        Self.namesDatabase(path)
          ? .apple(NewStore.schema(like: layout)) : NewStore(like: layout, at: folder),
        at: folder)
    }
  }

  private init(path: String, new: NewStore?, description: StoreDescription) {
    (self.path, self.new, self.description) = (path, new, description)
  }

  private init(_ new: NewStore, at folder: String) {
    self.init(
      path: folder, new: new,
      description: StoreDescription(
        path: folder, format: new.format, schemaVersion: new.schemaVersion))
  }

  /// Returns the destination without the new cache if no entry would be imported into that.
  ///
  /// A wrong selection must not leave an empty cache behind. An empty Apple cache can only be the copy of another one,
  /// and an empty folder is no Foundation cache.
  func created(by plan: ImportPlan, from archive: any ResponseArchive) -> ImportDestination {
    let isCopy =
      archive.restoresCaches && plan.archivedEntries == 0 && description.traits.hasDatabase
    guard new != nil, !plan.changesAnything, !isCopy else { return self }
    return ImportDestination(path: path, new: nil, description: description)
  }

  /// Opens the cache for planning; it must not be the source of the import. Returns `nil` for a new cache.
  func open(
    _ cache: CacheOptions, _ archive: any ResponseArchive, in environment: CommandEnvironment
  ) throws -> (any StoreSource)? {
    if new != nil { return nil }
    let source = try cache.openForPlanning(in: environment)
    let identity = source.description.identity
    // Reading a cache while it is written to would never see an end, or see entries twice.
    guard identity.isEmpty || identity != archive.description.identity else {
      throw CommandFailure.usage(
        "cannot import '\(path)' into itself", hint: "name another cache with '-c'")
    }
    return source
  }

  /// Requires an empty cache of the right kind, as an interrupted import leaves it.
  private static func requireEmpty(
    _ source: any ResponseSource, _ new: NewStore, _ path: String, for words: [String]
  ) throws {
    guard source.description.format == new.format else {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create",
        "there is already a cache in another format at '\(path)'",
        hint: "name another folder with '-c'", path: path)
    }
    guard try source.count() == 0 else {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create",
        "there is already a cache with entries at '\(path)'",
        hint: "add to it with: \(OptionHints.commandLine(words))", path: path)
    }
  }

  /// Whether a path is that of a `Cache.db`, not of its folder.
  private static func namesDatabase(_ path: String) -> Bool {
    path == "Cache.db" || path.utf8.reversed().starts(with: "/Cache.db".utf8.reversed())
  }

  /// Returns the folder of a cache at a path, which may be that of its `Cache.db`.
  private static func folder(ofCacheAt path: String) -> String {
    var folder = path.utf8[...]
    if namesDatabase(path) { folder = folder.dropLast("Cache.db".utf8.count) }
    while folder.count > 1, folder.last == UInt8(ascii: "/") { folder = folder.dropLast() }
    return folder.isEmpty ? "." : String(decoding: Array(folder), as: UTF8.self)
  }

  /// Returns the folder for a new cache: a missing or an empty folder.
  ///
  /// - Returns: `nil` if something else exists there, which the user may have meant.
  private static func folder(forNewCacheAt path: String) throws -> String? {
    let name = Self.folder(ofCacheAt: path)
    do throws(FileError) { _ = try FileStatus.of(name) } catch {
      return error.kind == .notFound ? name : nil
    }
    guard let directory = try? Directory(name, followingLink: true) else { return nil }
    var isEmpty = true
    try directory.forEachName { _ in isEmpty = false }
    // A typing error in a path must not turn a folder with other files into a cache.
    return isEmpty ? name : nil
  }

  /// Returns the cache at the path of a new one; `nil` if there is none.
  private static func cache(
    at path: String, in environment: CommandEnvironment
  ) throws -> (any ResponseSource)? {
    do {
      return try environment.openSource(path, 0, environment.now).source
    } catch let error as StoreError where error.code == .notFound || error.code == .notACache {
      if error.code == .notFound { return nil }
      // A folder without a database can be used; a file that is no database cannot.
      guard (try? FileStatus.of(path))?.kind == .directory,
        (try? FileStatus.of("\(path)/Cache.db")) == nil
      else { throw error }
      return nil
    }
  }
}
