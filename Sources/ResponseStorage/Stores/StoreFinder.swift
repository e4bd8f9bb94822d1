import Bytes
public import Files

/// A search for stores of every format below some folders.
///
/// A CFNetwork store is recognized by its tables, whatever the name of its file, and a store of
/// swift-corelibs-foundation by the names of its files. The search changes nothing. It follows no
/// symbolic link, visits no folder twice under different names, and opens no pipes, devices or files
/// that the kernel generates. Of a file that is not a database, it reads 100 bytes.
public struct StoreFinder: ~Copyable {
  private let maximumDepth: Int
  /// The user whose stores are reported; `nil` for all.
  private let user: UInt32?
  /// The app whose default stores are reported; `nil` for all.
  private let application: String?
  /// Whether entries and bytes are counted.
  private let measures: Bool
  /// The users whose folders were not searched.
  private var others: Set<UInt32> = []
  private var discovery = Discovery()

  /// The visited folders with their depth. A folder that was first found deep down is visited again if it
  /// is found higher up, where more of its folders are within the limit.
  private var visited: [FileIdentity: Int] = [:]
  private var tooDeep: Set<FileIdentity> = []
  private var found: Set<FileIdentity> = []

  private typealias FileIdentity = [UInt64]

  private init(_ search: StoreSearch, user: UInt32?) {
    maximumDepth = search.maximumDepth
    application = search.application
    measures = search.measures
    self.user = user
  }

  /// Searches for stores. Files that are no store are skipped, including damaged and half-created ones.
  ///
  /// - Parameter user: The user whose stores are reported; root does not even enter the folders of others. `nil` for all.
  /// - Throws: `FileError` if a required folder cannot be read.
  /// - Complexity: Time O(*n*) in the number of files and responses; memory O(*n*) in the number of folders
  ///   and stores.
  public static func discovery(
    by search: StoreSearch, ofUser user: UInt32? = nil
  ) throws(FileError) -> Discovery {
    var others: Set<UInt32> = []
    return try discovery(by: search, ofUser: user, others: &others)
  }

  /// Searches for stores, like the function above.
  ///
  /// - Parameter others: The users into whose folders root did not look are added.
  public static func discovery(
    by search: StoreSearch, ofUser user: UInt32?,
    others: inout Set<UInt32>
  ) throws(FileError) -> Discovery {
    var finder = StoreFinder(search, user: user)
    for path in search.folders {
      do throws(FileError) {
        if user == 0, let part = try PathOwners.firstNotOfRoot(path) {
          finder.others.insert(part.status.owner)
          continue
        }
        let folder = try Directory(path.withoutTrailingSlashes, followingLink: true)
        finder.walk(folder, depth: 0)
      } catch {
        // Report the path as the user gave it, with its slashes.
        if search.needsFolders { throw FileError(error.number, at: path) }
        if error.kind != .notFound { finder.note(error) }
      }
    }
    others.formUnion(finder.others)
    return finder.finished()
  }

  private consuming func finished() -> Discovery {
    for index in discovery.stores.indices { discovery.stores[index].noteSidecars() }
    if let user, user != 0 {
      discovery.unreadable.removeAll { (try? FileStatus.of($0.path))?.owner != user }
    }
    discovery.foldersTooDeep = tooDeep.subtracting(visited.keys).count
    discovery.stores.sort { ByteString($0.path) < ByteString($1.path) }
    discovery.unreadable = Set(discovery.unreadable).sorted {
      ByteString($0.path) < ByteString($1.path)
    }
    return discovery
  }

  private mutating func walk(_ folder: borrowing Directory, depth: Int) {
    guard let status = try? folder.status() else { return }
    let identity = status.identity
    if user == 0, status.owner != 0 {
      others.insert(status.owner)
      return
    }
    // A bind mount makes one folder appear in several places, even within itself.
    if let before = visited[identity], before <= depth { return }
    visited[identity] = depth
    let contents = FolderContents(
      of: folder, onlyOfRoot: user == 0,
      databasesNamed: application == nil ? nil : AppleStoreWriter.databaseName)
    discovery.unreadable += contents.unreadable
    if user == nil || user == status.owner,
      isWanted(FoundationStore.self, at: folder.path), contents.isFoundationStore(in: folder.path),
      found.insert(identity).inserted
    {
      discovery.stores.append(FoundStore(contents.foundation, at: folder.path))
    }
    let isOfWebKit =
      (user == nil || user == status.owner) && contents.folders.contains(where: Self.isVersion)
      && examineVersions(in: folder)
    let count = discovery.stores.count
    // The databases come before the folders, as only then is it known whether `fsCachedData`
    // belongs to a store.
    for name in contents.databases.sorted() { examine(name, in: folder) }
    let hasBodies = discovery.stores.count > count
    for name in contents.folders.sorted() where !(isOfWebKit && Self.isVersion(name)) {
      descend(into: name, in: folder, depth + 1, isOfBodies: hasBodies && name == "fsCachedData")
    }
  }

  /// Visits a subfolder, unless it contains the bodies of a store that was just found.
  private mutating func descend(
    into name: String, in folder: borrowing Directory, _ depth: Int, isOfBodies: Bool
  ) {
    guard depth <= maximumDepth else {
      if let identity = try? folder.status(of: name).identity { tooDeep.insert(identity) }
      return
    }
    if user == 0, let owner = try? folder.status(of: name).owner, owner != 0 {
      others.insert(owner)
      return
    }
    do throws(FileError) {
      // Opened from its parent and without following a link: another process could replace the
      // folder by a link to somewhere else while the search is on its way.
      let inner = try Directory(name, in: folder)
      // The folder is opened even if it is not searched, so that one that cannot be read is
      // reported.
      if !isOfBodies { walk(inner, depth: depth) }
    } catch {
      // A folder that was removed or became a link meanwhile needs no report.
      if error.kind != .notFound, error.kind != .symbolicLink { note(error) }
    }
  }

  /// Adds a database if it is a store.
  private mutating func examine(_ name: String, in folder: borrowing Directory) {
    let path = folder.path(of: name)
    guard isWanted(AppleStore.self, at: path), let status = try? folder.status(of: name),
      !found.contains(status.identity), user == nil || user == status.owner
    else { return }
    let identity = status.identity
    do throws(StoreError) {
      guard let store = try FoundStore(databaseAt: path, measuring: measures) else { return }
      discovery.stores.append(store)
      found.insert(identity)
    } catch {
      discovery.unreadable.append(
        UnreadablePlace(path: path, reason: error.reason ?? error.description))
    }
  }

  /// Whether a store at a path is one of the app that is searched for.
  private func isWanted(_ kind: any StoreKind.Type, at path: String) -> Bool {
    guard let application else { return true }
    // By bytes: two spellings of a letter are two apps.
    return kind.application(ofStoreAt: path)?.utf8.elementsEqual(application.utf8) ?? false
  }

  /// Whether a folder can contain a WebKit cache of one version.
  private static func isVersion(_ name: String) -> Bool {
    WebKitFiles.number(ofVersion: Array(name.utf8)) != nil
  }

  /// Adds a folder of versions if it is a WebKit cache.
  ///
  /// - Returns: Whether it is one.
  private mutating func examineVersions(in folder: borrowing Directory) -> Bool {
    // Other programs may have folders of that name, too.
    guard let place = WebKitFiles.place(at: folder.path),
      (try? FileStatus.of(place.root + "/salt"))?.kind == .regular,
      let identity = try? FileStatus.of(place.root).identity
    else { return false }
    guard !found.contains(identity), isWanted(WebKitStore.self, at: folder.path) else {
      return true
    }
    do throws(StoreError) {
      discovery.stores.append(try FoundStore(webKitAt: folder.path, measuring: measures))
      found.insert(identity)
    } catch {
      discovery.unreadable.append(
        UnreadablePlace(path: folder.path, reason: error.reason ?? error.description))
    }
    return true
  }

  private mutating func note(_ error: FileError) {
    discovery.unreadable.append(UnreadablePlace(path: error.path, reason: error.reason))
  }
}

/// The files of a folder that matter to the search.
private struct FolderContents {
  /// The files that begin like an SQLite database.
  private(set) var databases: [String] = []
  private(set) var folders: [String] = []
  private(set) var foundation = FoundationFolder()
  private(set) var unreadable: [UnreadablePlace] = []

  /// The length of the shortest database, which is the smallest page size.
  private static let shortestDatabase: ByteCount = 512

  /// Whether files of other users than root are not even opened.
  private let isOnlyOfRoot: Bool

  /// The name of the databases that matter; `nil` for any.
  private let databaseName: String?

  init(
    of folder: borrowing Directory, onlyOfRoot isOnlyOfRoot: Bool,
    databasesNamed databaseName: String?
  ) {
    self.isOnlyOfRoot = isOnlyOfRoot
    self.databaseName = databaseName
    do {
      try folder.forEachName { name in try insert(name, in: folder) }
    } catch let error as FileError {
      note(error, at: folder.path)
    } catch {}
  }

  /// Whether the folder is a Foundation store. An empty folder is one only where Foundation itself creates
  /// the stores of programs that name no folder.
  func isFoundationStore(in path: String) -> Bool {
    if foundation.hasRegularEntry { return true }
    let parent = path.utf8.split(separator: UInt8(ascii: "/")).dropLast().last
    return !foundation.hasOtherFiles
      && (parent?.elementsEqual(FoundationFolder.parentName.utf8) ?? false)
  }

  /// Adds a file.
  ///
  /// - Throws: ``FileError`` if the files of the folder cannot be read at all.
  private mutating func insert(
    _ name: [UInt8], in folder: borrowing Directory
  ) throws(FileError) {
    let status: FileStatus
    do throws(FileError) { status = try folder.status(of: name) } catch {
      if error.kind == .notFound { return }
      throw error
    }
    let isFolder = status.kind == .directory
    if isOnlyOfRoot, !isFolder, status.owner != 0 { return }
    if foundation.insert(name, status) { return }
    guard isFolder || (status.kind == .regular && status.size >= Self.shortestDatabase) else {
      return
    }
    if !isFolder, let databaseName, !name.elementsEqual(databaseName.utf8) { return }
    // Files that the kernel generates can be slow to read, fail, or have side effects.
    if !isFolder, status.allocatedSize == 0, !folder.isOnMedium() { return }
    guard let text = String(validating: name, as: UTF8.self) else {
      let path = folder.path(of: String(decoding: name, as: UTF8.self))
      unreadable.append(UnreadablePlace(path: path, reason: "its name is not UTF-8"))
      return
    }
    if isFolder {
      folders.append(text)
    } else {
      examine(text, in: folder)
    }
  }

  private mutating func examine(_ name: String, in folder: borrowing Directory) {
    do throws(FileError) {
      if try OpenFile(reading: name, in: folder).beginsAsDatabase() { databases.append(name) }
    } catch {
      // A file that was removed or became a link meanwhile needs no report.
      if error.kind != .notFound, error.kind != .symbolicLink { note(error, at: error.path) }
    }
  }

  private mutating func note(_ error: FileError, at path: String) {
    unreadable.append(UnreadablePlace(path: path, reason: error.reason))
  }
}

extension OpenFile {
  /// Whether the file begins like an SQLite database ("Database File Format", §1.3).
  fileprivate borrowing func beginsAsDatabase() throws(FileError) -> Bool {
    try read(100, at: 0).starts(with: "SQLite format 3\0".utf8)
  }
}

extension String {
  /// The path without trailing slashes, except for the root.
  var withoutTrailingSlashes: String {
    guard let last = utf8.lastIndex(where: { $0 != UInt8(ascii: "/") }) else {
      return isEmpty ? self : "/"
    }
    return String(self[...last])
  }
}

extension FoundStore {
  /// Adds a note about a folder in which apps keep an `ETag` for each URL: next to the store, or next to the folder of
  /// its database, such as `Library/Caches/etags` for `Library/Caches/com.example.shop/Cache.db`.
  mutating func noteSidecars() {
    var folder = Directory.parent(of: path)
    for _ in 0..<(traits.hasDatabase ? 2 : 1) {
      guard let parent = folder else { return }
      let sidecars = (parent == "/" ? "" : parent) + "/etags"
      if sidecars != path, let status = try? FileStatus.of(sidecars), status.kind == .directory {
        notes.append(
          "'\(sidecars)' may contain sidecar files of its URLs;"
            + " compare them with 'urlcache-admin check CACHE --sidecars DIR'")
        return
      }
      folder = Directory.parent(of: parent)
    }
  }
}
