import Bytes
public import Files

/// A search for stores of every format below some folders.
///
/// A store of CFNetwork is told by its tables, whatever its file is called, and one of
/// swift-corelibs-foundation by the names of its files. The search changes nothing. It follows no
/// symbolic link, looks into no folder twice, whatever names it has, and opens neither pipes nor
/// devices nor what the kernel shows as files; of a file that does not begin as a database it reads
/// 100 bytes.
public struct StoreFinder: ~Copyable {
  private let maximumDepth: Int
  private let temporaryFolder: String
  private var discovery = Discovery()

  /// The folders that were looked into, with how deep they lay, so that one that was met deep down is
  /// looked into again where it lies higher.
  private var visited: [FileIdentity: Int] = [:]
  private var tooDeep: Set<FileIdentity> = []
  private var found: Set<FileIdentity> = []

  private typealias FileIdentity = [UInt64]

  private init(maximumDepth: Int, temporaryFolder: String) {
    self.maximumDepth = maximumDepth
    self.temporaryFolder = temporaryFolder
  }

  /// Searches, and tells what there is. A file that is no store, also one that is damaged or was only
  /// begun, is passed over.
  ///
  /// - Parameter temporaryFolder: Where a private copy of a store is put if a transaction has to be
  ///   rolled back.
  /// - Throws: `FileError` if a folder that is needed cannot be looked into.
  /// - Complexity: O(*n*) in the number of files and of responses; in memory, that of folders and of
  ///   stores.
  public static func discovery(
    by search: StoreSearch, temporaryFolder: String
  ) throws(FileError) -> Discovery {
    var finder = StoreFinder(
      maximumDepth: search.maximumDepth, temporaryFolder: temporaryFolder)
    for path in search.folders {
      do throws(FileError) {
        let folder = try Directory(path.withoutTrailingSlashes, followingLink: true)
        finder.walk(folder, depth: 0)
      } catch {
        if search.needsFolders { throw FileError(error.number, at: path) }
        if error.kind != .notFound { finder.note(error) }
      }
    }
    return finder.finished()
  }

  private consuming func finished() -> Discovery {
    for index in discovery.stores.indices { discovery.stores[index].noteSidecars() }
    discovery.foldersTooDeep = tooDeep.subtracting(visited.keys).count
    discovery.stores.sort { ByteString($0.path) < ByteString($1.path) }
    discovery.unreadable = Set(discovery.unreadable).sorted {
      ByteString($0.path) < ByteString($1.path)
    }
    return discovery
  }

  private mutating func walk(_ folder: borrowing Directory, depth: Int) {
    guard let identity = try? folder.status().identity else { return }
    if let before = visited[identity], before <= depth { return }
    visited[identity] = depth
    let contents = FolderContents(of: folder)
    discovery.unreadable += contents.unreadable
    if contents.isFoundationStore(in: folder.path), found.insert(identity).inserted {
      discovery.stores.append(FoundStore(contents.foundation, at: folder.path))
    }
    let count = discovery.stores.count
    for name in contents.databases.sorted() { examine(name, in: folder) }
    let hasBodies = discovery.stores.count > count
    for name in contents.folders.sorted() {
      descend(into: name, in: folder, depth + 1, isOfBodies: hasBodies && name == "fsCachedData")
    }
  }

  /// Looks into a folder of a folder, unless it holds the bodies of a store that was just found.
  private mutating func descend(
    into name: String, in folder: borrowing Directory, _ depth: Int, isOfBodies: Bool
  ) {
    guard depth <= maximumDepth else {
      if let identity = try? folder.status(of: name).identity { tooDeep.insert(identity) }
      return
    }
    do throws(FileError) {
      let inner = try Directory(name, in: folder)
      if !isOfBodies { walk(inner, depth: depth) }
    } catch {
      // One that went meanwhile, or is a link now, is nothing to tell of.
      if error.kind != .notFound, error.kind != .symbolicLink { note(error) }
    }
  }

  /// Takes a database in if it is a store.
  private mutating func examine(_ name: String, in folder: borrowing Directory) {
    guard let identity = try? folder.status(of: name).identity, !found.contains(identity) else {
      return
    }
    let path = folder.path(of: name)
    do throws(StoreError) {
      guard let store = try FoundStore(databaseAt: path, temporaryFolder: temporaryFolder) else {
        return
      }
      discovery.stores.append(store)
      found.insert(identity)
    } catch {
      discovery.unreadable.append(
        UnreadablePlace(path: path, reason: error.reason ?? error.description))
    }
  }

  private mutating func note(_ error: FileError) {
    discovery.unreadable.append(UnreadablePlace(path: error.path, reason: error.reason))
  }
}

/// What matters of the files of a folder.
private struct FolderContents {
  /// What begins as an SQLite database.
  private(set) var databases: [String] = []
  private(set) var folders: [String] = []
  private(set) var foundation = FoundationFolder()
  private(set) var unreadable: [UnreadablePlace] = []

  /// The length of the shortest database: its smallest page.
  private static let shortestDatabase: ByteCount = 512

  init(of folder: borrowing Directory) {
    do {
      try folder.forEachName { name in try insert(name, in: folder) }
    } catch let error as FileError {
      note(error, at: folder.path)
    } catch {}
  }

  /// Whether the folder is a store of Foundation. An empty one is only where Foundation itself puts
  /// the stores of programs that name no folder.
  func isFoundationStore(in path: String) -> Bool {
    if foundation.entries > 0 { return true }
    let parent = path.utf8.split(separator: UInt8(ascii: "/")).dropLast().last
    return !foundation.hasOtherFiles
      && (parent?.elementsEqual(FoundationFolder.parentName.utf8) ?? false)
  }

  /// Takes a file in.
  ///
  /// - Throws: ``FileError`` if nothing can be learned of the files of the folder.
  private mutating func insert(
    _ name: [UInt8], in folder: borrowing Directory
  ) throws(FileError) {
    let status: FileStatus
    do throws(FileError) { status = try folder.status(of: name) } catch {
      if error.kind == .notFound { return }
      throw error
    }
    if foundation.insert(name, status) { return }
    let isFolder = status.kind == .directory
    guard isFolder || (status.kind == .regular && status.size >= Self.shortestDatabase) else {
      return
    }
    // What the kernel shows as a file can be slow to read, fail, or do something.
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
      // One that went meanwhile, or is a link now, is nothing to tell of.
      if error.kind != .notFound, error.kind != .symbolicLink { note(error, at: error.path) }
    }
  }

  private mutating func note(_ error: FileError, at path: String) {
    unreadable.append(UnreadablePlace(path: path, reason: error.reason))
  }
}

extension OpenFile {
  /// Whether the file begins as an SQLite database does ("Database File Format", §1.3).
  fileprivate borrowing func beginsAsDatabase() throws(FileError) -> Bool {
    try read(100, at: 0).starts(with: "SQLite format 3\0".utf8)
  }
}

extension String {
  /// A path without the slashes at its end, but for that of the root.
  var withoutTrailingSlashes: String {
    guard let last = utf8.lastIndex(where: { $0 != UInt8(ascii: "/") }) else {
      return isEmpty ? self : "/"
    }
    return String(self[...last])
  }
}
