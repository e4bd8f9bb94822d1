import Bytes
import Files
import SQLite

/// What the other databases in the folder of a store say about its body files.
///
/// All databases in a folder share its `fsCachedData`. A copy of a database, as it is made before an update or a conversion,
/// names the same files. So a body file that another database names is no orphan, and stays when an entry is removed. While a
/// database cannot be read, any body file may be one of its own.
///
/// A folder without other databases takes a listing, and the beginning of each other regular file.
struct NeighbouringDatabases: Sendable {
  /// A database that cannot be read.
  struct Unreadable: Hashable, Sendable {
    /// The name of its file.
    let name: ByteString
    /// Why, as a clause.
    let reason: String

    /// The name for a message; what is not UTF-8 is replaced.
    var shownName: String { String(decoding: name.bytes, as: UTF8.self) }
  }

  /// The names of the body files to which the databases refer.
  private(set) var names: Set<UUIDBytes> = []
  /// The databases that cannot be read, sorted by name.
  private(set) var unreadable: [Unreadable] = []
  /// How long it took to read those that had changed.
  private(set) var duration = Duration.zero

  private let files: AppleStoreFiles
  /// What was read of each other file that is not part of a database.
  private var known: [[UInt8]: Known] = [:]
  /// The files at that time; `nil` before the first reading.
  private var listed: Listing?

  private struct Known: Sendable {
    let listed: Listing
    /// Whether reading it again would give the same, as long as the file has the same version.
    let isFinal: Bool
    /// The names in it; `nil` if it is a database that cannot be read.
    let names: Set<UUIDBytes>?
    var reason = ""
  }

  /// Creates a value that knows of no database yet: see ``read(waiting:)``.
  ///
  /// - Parameter files: The files of the store.
  init(of files: AppleStoreFiles) { self.files = files }

  /// Whether all of them were read before.
  var wasRead: Bool { listed != nil }

  /// Whether another database refers to a body file, or may refer to it.
  func mayName(_ file: UUIDBytes) -> Bool { !unreadable.isEmpty || names.contains(file) }

  /// Whether a database was added, removed or changed since it was read. This opens no file.
  func haveChanged() -> Bool {
    guard let now = try? Listing(of: files), let listed else { return true }
    return now != listed || known.values.contains { !$0.isFinal }
  }

  /// Reads the databases that were not read before, or that have changed since.
  ///
  /// - Parameter wait: How long to wait for the lock of another process, in milliseconds.
  mutating func read(waiting wait: Int32) {
    let clock = ContinuousClock()
    let start = clock.now
    var now: [[UInt8]: Known] = [:]
    do {
      let listing = try Listing(of: files)
      let folder = try Directory(files.folder, followingLink: true)
      for name in listing.names {
        let part = listing.files(of: name)
        if let known = known[name], known.listed == part, known.isFinal {
          now[name] = known
        } else {
          now[name] = reading(name, part, in: folder, wait)
        }
      }
      listed = listing
    } catch {
      // Any database can be in a folder that cannot be listed.
      let known = Known(
        listed: Listing(), isFinal: false, names: nil, reason: Self.reason(of: error))
      (now, listed) = ([Array(files.folder.utf8): known], nil)
    }
    known = now
    names = known.values.reduce(into: []) { $0.formUnion($1.names ?? []) }
    unreadable = known.filter { $0.value.names == nil }
      .map { Unreadable(name: ByteString($0.key), reason: $0.value.reason) }
      .sorted { $0.name < $1.name }
    duration = clock.now - start
  }

  private func reading(
    _ name: [UInt8], _ listed: Listing, in folder: borrowing Directory, _ wait: Int32
  ) -> Known {
    // The times come before the reading: a change during it then shows in the next listing.
    let isSettled = listed.isSettled
    do {
      let names = try Self.isDatabase(name, in: folder) ? namesInDatabase(name, wait) : []
      return Known(listed: listed, isFinal: isSettled, names: names)
    } catch {
      let code = (error as? StoreError)?.code
      return Known(
        listed: listed, isFinal: isSettled && code != .inUse && code != .changedWhileReading,
        names: nil, reason: Self.reason(of: error))
    }
  }

  private static func reason(of error: any Error) -> String {
    switch error {
    case let error as StoreError: error.reason ?? error.description
    case let error as FileError: error.reason
    case let error as SQLiteError: error.message
    default: "\(error)"
    }
  }

  /// Whether a file begins as an SQLite database does.
  private static func isDatabase(
    _ name: [UInt8], in folder: borrowing Directory
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      let file = try OpenFile(reading: name, in: folder)
      guard try file.status().kind == .regular else { return false }
      let mark = Array("SQLite format 3\0".utf8)
      return try file.read(mark.count, at: 0) == mark
    } catch {
      // It was removed since the folder was listed, or replaced by a link.
      if error.kind == .notFound || error.kind == .symbolicLink { return false }
      throw error
    }
  }

  private func namesInDatabase(_ name: [UInt8], _ wait: Int32) throws -> Set<UUIDBytes> {
    guard let text = String(validating: name, as: UTF8.self) else {
      throw StoreError(.unreadable, at: nil, because: "its name is not UTF-8")
    }
    let place = try AppleStoreFiles(at: "\(files.folder)/\(text)")
    for _ in 0..<3 {
      do {
        return try names(
          in: AppleSnapshot(
            of: place, wait: wait, asCache: false))
      } catch let error as StoreError where error.code == .changedWhileReading {}
    }
    throw StoreError(.changedWhileReading, at: place.path, because: "it keeps changing")
  }

  private func names(in snapshot: borrowing AppleSnapshot) throws -> Set<UUIDBytes> {
    do {
      // A scan can miss rows of a damaged database without an error. The check takes longer than an app should wait for a
      // reader, but an app that is seen here has a log, or is in a transaction and about to change the file.
      if !snapshot.inUse { try Self.verify(snapshot.connection) }
      let names = try Self.names(in: snapshot.connection)
      try snapshot.verifyUnchanged()
      return names
    } catch let error as SQLiteError {
      // If it has changed meanwhile, what was read may be no state that it ever had.
      try snapshot.verifyUnchanged()
      throw error
    }
  }

  private static func verify(_ connection: borrowing Connection) throws(SQLiteError) {
    var rows = try connection.prepare("PRAGMA quick_check(1)")
    guard try rows.step() else { return }
    let answer = rows.text(at: 0)
    if answer != Array("ok".utf8) {
      throw .damage("it is damaged: \(String(decoding: answer, as: UTF8.self))")
    }
  }

  /// Returns the names in a database of any encoding; none if it is no cache, or has no body files.
  // Not by ``AppleLayout``, which refuses caches in UTF-16, and what is no cache.
  private static func names(in connection: borrowing Connection) throws -> Set<UUIDBytes> {
    let table = AppleLayout.bodies
    var tables = try connection.prepare(
      """
      SELECT type = 'table' AND rootpage > 0 AND sql NOT LIKE 'CREATE VIRTUAL%' FROM sqlite_master
      WHERE lower(name) = '\(table)' AND type IN ('table', 'view')
      """)
    guard try tables.step() else { return [] }
    // A view or a virtual table runs code of its author.
    guard tables.integer(at: 0) == 1 else {
      throw StoreError(.unreadable, at: nil, because: "'\(table)' is not a table")
    }
    var columns = 0
    var rows = try connection.prepare(
      """
      SELECT hidden FROM pragma_table_xinfo('\(table)')
      WHERE lower(name) IN ('isdataonfs', 'receiver_data')
      """)
    while try rows.step() {
      guard rows.integer(at: 0) == 0 else {
        throw StoreError(.unreadable, at: nil, because: "'\(table)' has generated columns")
      }
      columns += 1
    }
    // Before schema 25, there were no body files.
    guard columns == 2 else { return [] }
    var names: Set<UUIDBytes> = []
    var values = try connection.prepare(
      "SELECT receiver_data FROM \(table) NOT INDEXED WHERE isDataOnFS > 0")
    while try values.step() {
      let value = values.type(at: 0) == .text ? values.text(at: 0) : values.bytes(at: 0)
      if let name = UUIDBytes(value) { names.insert(name) }
    }
    return names
  }
}

/// The body files that stay when the responses that refer to them are removed, because another database in the folder refers
/// to them, or may do so.
public struct KeptBodyFiles: Sendable {
  private let neighbours: NeighbouringDatabases?

  /// Creates an empty set.
  public init() { neighbours = nil }

  init(_ neighbours: NeighbouringDatabases) { self.neighbours = neighbours }

  /// Whether the body of a response is in one of the files. Its body must be decoded.
  public func contains(_ response: borrowing StoredResponse) -> Bool {
    guard let neighbours, let name = response.bodyFileName else { return false }
    return UUIDBytes(name.bytes).map { neighbours.mayName($0) } ?? false
  }
}

/// The regular files next to a database, with their versions.
private struct Listing: Hashable, Sendable {
  private var versions: [[UInt8]: FileVersion] = [:]

  private static let suffixes = ["-wal", "-shm", "-journal"].map { Array($0.utf8) }

  /// Lists the files in the folder of a store that are not its own.
  init(of files: AppleStoreFiles) throws {
    let folder = try Directory(files.folder, followingLink: true)
    let own = files.database.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    // A hard link is no other database. Closing it would drop the locks of this process, too.
    let numbers = Set(
      [own, own + Self.suffixes[1]].compactMap { try? folder.status(of: $0).identity })
    try folder.forEachName { name in
      guard !Self.isPart(name, of: own), let status = try? folder.status(of: name),
        !numbers.contains(status.identity)
      else { return }
      versions[name] = FileVersion(status)
    }
    // It changes with each reader.
    for name in versions.keys where isPart(name, Self.suffixes[1...1]) { versions[name] = nil }
  }

  fileprivate init() {}

  /// The names of the files that are not part of another one's database.
  var names: [[UInt8]] { versions.keys.filter { !isPart($0, Self.suffixes[...]) } }

  private func isPart(_ name: [UInt8], _ suffixes: ArraySlice<[UInt8]>) -> Bool {
    suffixes.contains { suffix in
      name.count > suffix.count && name.suffix(suffix.count) == suffix[...]
        && versions[Array(name.dropLast(suffix.count))] != nil
    }
  }

  /// Returns a file, with its log and journal.
  func files(of name: [UInt8]) -> Listing {
    var part = Listing()
    for name in [name, name + Self.suffixes[0], name + Self.suffixes[2]] {
      part.versions[name] = versions[name]
    }
    return part
  }

  /// Whether a later change would have another time, as none of the files was changed just now.
  var isSettled: Bool {
    let now = LocalTime.now()
    return versions.values.allSatisfy { abs(Double($0.modified) / 1e9 - now) > 0.05 }
  }

  private static func isPart(_ name: [UInt8], of database: [UInt8]) -> Bool {
    name == database || suffixes.contains { name == database + $0 }
  }
}
