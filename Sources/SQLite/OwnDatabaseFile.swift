internal import CSQLite
private import Files

/// The names of the files that belong to an open database: its journal and its log.
///
/// SQLite opens the index of the log, and files without a name, without asking a file system for them by name. It keeps the
/// names in memory next to that of the database, and uses them from there. So they are known by their addresses: the same
/// text elsewhere, such as in a journal, is none of them.
@safe
struct OwnFileNames: ~Copyable {
  private static let all = Monitor<Set<UInt>>([])

  private let addresses: [UInt]

  /// Adds the names of a database that SQLite opens.
  init(of database: UnsafePointer<CChar>?) {
    let names = unsafe [sqlite3_filename_journal(database), sqlite3_filename_wal(database)]
    let addresses = unsafe names.compactMap { unsafe $0.map { UInt(bitPattern: $0) } }
    Self.all.withLock { $0.formUnion(addresses) }
    self.addresses = addresses
  }

  deinit {
    let addresses = addresses
    Self.all.withLock { $0.subtract(addresses) }
  }

  /// Whether a name is one of a database that is open.
  static func contain(_ name: UnsafePointer<CChar>?) -> Bool {
    guard let name = unsafe name else { return false }
    let address = UInt(bitPattern: name)
    return all.withLock { $0.contains(address) }
  }
}

/// A database with all the functions of the file system below.
@safe
struct OwnDatabaseFile: ~Copyable, LayeredFile {
  /// The name of the file system with such databases.
  static let fileSystem = unsafe FileSystemLayer.register(
    "urlcache-admin", adding: Self.byteCount
  ) { system, name, file, flags, outFlags in
    unsafe OwnDatabaseFile.open(system, name, file, flags, outFlags)
  }

  /// The name of the file system with such databases that takes no locks.
  static let fileSystemWithoutLocks = unsafe FileSystemLayer.register(
    "urlcache-admin-without-locks", above: FileSystemLayer.withoutLocks, adding: Self.byteCount
  ) { system, name, file, flags, outFlags in
    unsafe OwnDatabaseFile.open(system, name, file, flags, outFlags)
  }

  let usual: UnsafePointer<sqlite3_io_methods>
  private let names: OwnFileNames

  private static func open(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let code = unsafe FileSystemLayer.open(system, name, file, flags, outFlags)
    if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file {
      unsafe prepare(file, name)
    }
    return code
  }

  /// Notes the names of the files of an open database.
  static func prepare(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ name: UnsafePointer<CChar>?
  ) {
    guard let usual = unsafe file.pointee.pMethods else { return }
    var methods = unsafe usual.pointee
    unsafe methods.xClose = { file in
      guard let file = unsafe file else { return SQLITE_OK }
      return unsafe OwnDatabaseFile.close(file)
    }
    unsafe add(Self(usual: usual, names: OwnFileNames(of: name)), with: methods, to: file)
  }
}
