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

/// What a ``FileSystemLayer`` adds to an open file.
///
/// It lies behind what the usual file system keeps in the memory that SQLite allocates for the file: first the functions for
/// the file, which are those of the usual file system but for some, then the value.
protocol LayeredFile: ~Copyable {
  /// The functions of the usual file system.
  var usual: UnsafePointer<sqlite3_io_methods> { get }
}

extension LayeredFile where Self: ~Copyable {
  /// The number of bytes that are added to a file.
  static var byteCount: Int { MemoryLayout<sqlite3_io_methods>.stride + MemoryLayout<Self>.size }

  /// Adds a value to an open file, and replaces the functions for it.
  static func add(
    _ added: consuming Self, with methods: sqlite3_io_methods,
    to file: UnsafeMutablePointer<sqlite3_file>
  ) {
    unsafe functions(for: file).initialize(to: methods)
    unsafe of(file).initialize(to: added)
    unsafe file.pointee.pMethods = UnsafePointer(functions(for: file))
  }

  /// Returns what was added to a file.
  static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Self> {
    unsafe UnsafeMutableRawPointer(functions(for: file) + 1).assumingMemoryBound(to: Self.self)
  }

  /// Takes away what was added to a file, and closes the file.
  ///
  /// - Returns: The result code of SQLite.
  static func close(_ file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    let usual = unsafe of(file).pointee.usual
    unsafe of(file).deinitialize(count: 1)
    unsafe file.pointee.pMethods = usual
    return unsafe usual.pointee.xClose(file)
  }

  private static func functions(
    for file: UnsafeMutablePointer<sqlite3_file>
  ) -> UnsafeMutablePointer<sqlite3_io_methods> {
    unsafe (UnsafeMutableRawPointer(file) + FileSystemLayer.offset)
      .assumingMemoryBound(to: sqlite3_io_methods.self)
  }
}
