public import Bytes

/// What an entry contributes to the space in use of its cache, in bytes.
///
/// It depends on the entry alone: not on how full pages are, on free pages, on the log, or on who has the cache open. So the entries that a
/// limit removes do not depend on these either.
public struct EntryShare: Hashable, Sendable {
  /// What its rows and index cells take of the pages of a database, or the space of the record of a WebKit cache; 0 for
  /// other stores.
  public var pages: ByteCount

  /// The length of its body file, or of its own file in a store of files, in a WebKit cache the space that it takes; 0 if there is none, or if another database names it too.
  public var file: ByteCount

  /// The name of the body file if several entries name it: its space is freed with the last of them.
  public var sharedFile: ByteString?

  /// Creates a share.
  public init(pages: ByteCount = 0, file: ByteCount = 0, sharedFile: ByteString? = nil) {
    (self.pages, self.file, self.sharedFile) = (pages, file, sharedFile)
  }
}

/// The space that some entries take: the sum of their shares, in which each file counts once.
public struct SpaceInUse: Hashable, Sendable {
  /// A body file that several entries name.
  private struct SharedFile: Hashable {
    let bytes: ByteCount
    var entries: Int64
  }

  /// What the entries take of the pages of a database, in bytes.
  public private(set) var pages: ByteCount = 0

  /// The space, in bytes.
  public private(set) var bytes: ByteCount = 0
  private var shared: [ByteString: SharedFile] = [:]

  /// Creates the space of no entries.
  public init() {}

  /// Adds an entry.
  public mutating func insert(_ share: EntryShare) {
    pages += share.pages
    bytes += share.pages
    if let name = share.sharedFile {
      return insert(SharedFile(bytes: share.file, entries: 1), name)
    }
    bytes += share.file
  }

  /// Removes an entry that was added.
  ///
  /// - Returns: The space that this frees, in bytes.
  @discardableResult
  public mutating func remove(_ share: EntryShare) -> ByteCount {
    let before = bytes
    pages -= share.pages
    bytes -= share.pages
    if let name = share.sharedFile {
      remove(SharedFile(bytes: share.file, entries: 1), name)
    } else {
      bytes -= share.file
    }
    return before - bytes
  }

  /// Adds other entries of the same cache.
  public mutating func insert(_ others: SpaceInUse) {
    pages += others.pages
    bytes += others.bytesWithoutShared
    for (name, file) in others.shared { insert(file, name) }
  }

  /// Removes some of the entries that were added.
  public mutating func remove(_ some: SpaceInUse) {
    pages -= some.pages
    bytes -= some.bytesWithoutShared
    for (name, file) in some.shared { remove(file, name) }
  }

  /// Returns the length of the shared files that go with the last of some of the entries, in bytes.
  public func sharedBytes(freedBy some: SpaceInUse) -> ByteCount {
    some.shared.reduce(0) { sum, file in
      shared[file.key]?.entries == file.value.entries ? sum + file.value.bytes : sum
    }
  }

  private var bytesWithoutShared: ByteCount { shared.values.reduce(bytes) { $0 - $1.bytes } }

  private mutating func insert(_ file: SharedFile, _ name: ByteString) {
    if shared[name] == nil { bytes += file.bytes }
    shared[name, default: SharedFile(bytes: file.bytes, entries: 0)].entries += file.entries
  }

  private mutating func remove(_ file: SharedFile, _ name: ByteString) {
    guard let found = shared[name] else { return }
    if found.entries > file.entries {
      shared[name]?.entries -= file.entries
    } else {
      shared[name] = nil
      bytes -= found.bytes
    }
  }
}
