internal import CSQLite

/// A file system of SQLite in which a database has no files but its own, and some functions of some files are replaced.
///
/// A rollback journal can name another file, a super-journal, which SQLite opens and then deletes ("Database File Format",
/// 3.1). Whoever made the journal chose that name. So SQLite opens, asks for and deletes only files without a name and those
/// of ``OwnFileNames``. Anything else is an error, never a file that does not exist: with that answer, SQLite would take the
/// transaction for finished, delete the journal, and keep rows that are half written.
///
/// See "The SQLite OS Interface or VFS".
enum FileSystemLayer {
  /// A function that opens a file.
  typealias Opening =
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?,
      UnsafeMutablePointer<sqlite3_file>?, Int32, UnsafeMutablePointer<Int32>?
    ) -> Int32

  /// The result code for a file of another database: `SQLITE_CANTOPEN` with a number that SQLite does not use.
  static let foreignFile: Int32 = SQLITE_CANTOPEN | 0x75 << 8

  /// The file system of SQLite that takes no locks. It has the same name on Linux and macOS.
  static let withoutLocks = "unix-none"

  /// The offset of what a layer adds to an open file: see ``LayeredFile``.
  // All file systems of SQLite for a system keep the same of a file.
  static let offset = unsafe (Int(sqlite3_vfs_find(nil)?.pointee.szOsFile ?? 0) + 15) & ~15

  /// Makes a layer known to SQLite, for as long as the process runs.
  ///
  /// - Parameters:
  ///   - title: Its name.
  ///   - below: The name of the file system below; `nil` for the usual one.
  ///   - byteCount: The number of bytes that it adds to an open file.
  ///   - open: Opens a file, by ``open(_:_:_:_:_:)``.
  /// - Returns: The name to open a database with, which SQLite does not know if the layer cannot be registered.
  static func register(
    _ title: String, above below: String? = nil, adding byteCount: Int, open: Opening
  ) -> String {
    guard let below = unsafe sqlite3_vfs_find(below) else { return title }
    // SQLite keeps both.
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: title.utf8.count + 1)
    unsafe name.initialize(to: 0)
    for (index, byte) in (title.utf8.map { CChar($0) } + [0]).enumerated() {
      unsafe (name + index).initialize(to: byte)
    }
    unsafe system.initialize(to: below.pointee)
    unsafe system.pointee.pNext = nil
    unsafe system.pointee.zName = UnsafePointer(name)
    unsafe system.pointee.szOsFile = Int32(offset + max(byteCount, OwnDatabaseFile.byteCount))
    // Only for functions that get their file system back, which are these three.
    unsafe system.pointee.pAppData = UnsafeMutableRawPointer(below)
    unsafe system.pointee.xOpen = open
    unsafe system.pointee.xAccess = { system, name, flags, result in
      guard let below = unsafe FileSystemLayer.below(system),
        let access = unsafe below.pointee.xAccess
      else { return SQLITE_ERROR }
      guard unsafe OwnFileNames.contain(name) else { return FileSystemLayer.foreignFile }
      return unsafe access(below, name, flags, result)
    }
    unsafe system.pointee.xDelete = { system, name, isSynchronized in
      guard let below = unsafe FileSystemLayer.below(system),
        let delete = unsafe below.pointee.xDelete
      else { return SQLITE_ERROR }
      guard unsafe OwnFileNames.contain(name) else { return FileSystemLayer.foreignFile }
      return unsafe delete(below, name, isSynchronized)
    }
    _ = unsafe sqlite3_vfs_register(system, 0)
    return title
  }

  /// Opens a file as the file system below does, unless it belongs to another database.
  ///
  /// A journal that names a super-journal is refused too, before anything of it is rolled back: it stays as it is. If the
  /// name is written into it later, the functions above refuse the file that it names.
  static func open(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let below = unsafe below(system), let open = unsafe below.pointee.xOpen,
      let file = unsafe file
    else { return SQLITE_ERROR }
    // SQLite closes a file if it has functions.
    unsafe file.pointee.pMethods = nil
    // A connection opens the database that it was made for, and attaches only databases without a name.
    let isAllowed =
      unsafe name == nil || flags & SQLITE_OPEN_MAIN_DB != 0
      || flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL) != 0 && OwnFileNames.contain(name)
    guard isAllowed else { return foreignFile }
    var code = unsafe open(below, name, file, flags, outFlags)
    guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_JOURNAL != 0 else { return code }
    code = unsafe checkTrailer(of: file)
    if code != SQLITE_OK {
      _ = unsafe file.pointee.pMethods?.pointee.xClose(file)
      unsafe file.pointee.pMethods = nil
    }
    return code
  }

  private static func below(
    _ system: UnsafeMutablePointer<sqlite3_vfs>?
  ) -> UnsafeMutablePointer<sqlite3_vfs>? {
    unsafe system?.pointee.pAppData?.assumingMemoryBound(to: sqlite3_vfs.self)
  }

  /// Looks for the name of a super-journal at the end of a journal: the name, its length, its checksum and eight bytes.
  ///
  /// The checksum does not matter, as it is not the same everywhere: SQLite adds characters, which can be negative.
  ///
  /// - Returns: The result code of SQLite.
  private static func checkTrailer(of file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    guard let functions = unsafe file.pointee.pMethods else { return SQLITE_ERROR }
    var size: Int64 = 0
    let code = unsafe functions.pointee.xFileSize(file, &size)
    guard code == SQLITE_OK, size >= 16 else { return code }
    var end = [UInt8](repeating: 0, count: 16)
    let read = unsafe end.withUnsafeMutableBytes { end in
      unsafe functions.pointee.xRead(file, end.baseAddress, 16, size - 16)
    }
    guard read == SQLITE_OK else { return read }
    let length = end[..<4].reduce(0 as Int64) { $0 << 8 | Int64($1) }
    let hasName =
      end[8...].elementsEqual([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
      && length > 0 && length <= size - 16
    return hasName ? foreignFile : SQLITE_OK
  }
}
