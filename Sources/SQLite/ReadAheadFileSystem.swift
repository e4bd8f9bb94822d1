internal import CSQLite

/// The usual file system of SQLite, except that it reads ahead in databases which are only read.
///
/// What was read ahead does not follow changes, so this is for databases that no process changes. See "The SQLite OS
/// Interface or VFS".
enum ReadAheadFileSystem {
  /// The name to open a database with; `nil` if there is no such file system.
  static let name: String? = isRegistered ? title : nil

  private static let title = "urlcache-admin-read-ahead"

  private static let isRegistered: Bool = {
    guard let usual = unsafe usual else { return false }
    // SQLite keeps both for as long as the process runs.
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: title.utf8.count + 1)
    unsafe name.initialize(to: 0)
    for (index, byte) in (title.utf8.map { CChar($0) } + [0]).enumerated() {
      unsafe (name + index).initialize(to: byte)
    }
    unsafe system.initialize(to: usual.pointee)
    unsafe system.pointee.pNext = nil
    unsafe system.pointee.zName = UnsafePointer(name)
    unsafe system.pointee.szOsFile = Int32(OpenFileParts.offset + MemoryLayout<OpenFileParts>.size)
    unsafe system.pointee.xOpen = { _, name, file, flags, outFlags in
      unsafe open(name, file, flags, outFlags)
    }
    return unsafe sqlite3_vfs_register(system, 0) == SQLITE_OK
  }()

  /// The usual file system, which always is the same one.
  fileprivate static var usual: UnsafeMutablePointer<sqlite3_vfs>? { unsafe sqlite3_vfs_find(nil) }

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let file = unsafe file, let open = unsafe usual?.pointee.xOpen else {
      return SQLITE_ERROR
    }
    let code = unsafe open(usual, name, file, flags, outFlags)
    let isReadDatabase =
      flags & SQLITE_OPEN_MAIN_DB != 0 && flags & SQLITE_OPEN_READONLY != 0
    guard code == SQLITE_OK, isReadDatabase else { return code }
    unsafe OpenFileParts.add(to: file)
    return code
  }
}

/// What this file system adds to an open file. It lies behind what the usual one keeps in the memory that SQLite allocates
/// for the file.
@safe
private struct OpenFileParts: ~Copyable {
  /// The functions for the file: those of the usual file system, but for some.
  var methods: sqlite3_io_methods
  let usual: UnsafePointer<sqlite3_io_methods>
  var ahead = ReadAhead()
  /// The size of the file, in bytes.
  let size: Int64

  static let offset = unsafe (Int(ReadAheadFileSystem.usual?.pointee.szOsFile ?? 0) + 15) & ~15

  static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Self> {
    unsafe (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: Self.self)
  }

  /// Makes an open file read ahead. It stays as it is if its size is unknown.
  static func add(to file: UnsafeMutablePointer<sqlite3_file>) {
    var size: Int64 = 0
    guard let usual = unsafe file.pointee.pMethods,
      unsafe usual.pointee.xFileSize(file, &size) == SQLITE_OK
    else { return }
    var methods = unsafe usual.pointee
    // A database that nobody changes has no log, and so needs no shared memory.
    unsafe (methods.iVersion, methods.xShmMap) = (3, nil)
    unsafe methods.xRead = { file, buffer, count, offset in
      guard let file = unsafe file, let buffer = unsafe buffer else { return SQLITE_IOERR }
      let parts = unsafe OpenFileParts.of(file)
      let (usual, size) = unsafe (parts.pointee.usual, parts.pointee.size)
      return unsafe parts.pointee.ahead.fill(
        .init(start: buffer, count: Int(count)), at: offset, ofFileWith: size
      ) { buffer, offset in
        unsafe usual.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), offset)
      }
    }
    // SQLite uses these for memory maps. Instead, they spare copying each page that was read ahead. The memory is private,
    // so unlike that of a map it stays as it is when another process changes or truncates the file.
    unsafe methods.xFetch = { file, offset, count, page in
      guard let file = unsafe file, let page = unsafe page else { return SQLITE_IOERR }
      unsafe page.pointee = OpenFileParts.of(file).pointee.ahead.hold(Int(count), at: offset)
      return SQLITE_OK
    }
    unsafe methods.xUnfetch = { file, _, page in
      if let file = unsafe file, let page = unsafe page {
        unsafe OpenFileParts.of(file).pointee.ahead.release(page)
      }
      return SQLITE_OK
    }
    unsafe methods.xFileControl = { file, code, argument in
      // The usual file system would map the file.
      guard let file = unsafe file, code != SQLITE_FCNTL_MMAP_SIZE else { return SQLITE_NOTFOUND }
      return unsafe OpenFileParts.of(file).pointee.usual.pointee.xFileControl(file, code, argument)
    }
    unsafe methods.xClose = { file in
      guard let file = unsafe file else { return SQLITE_OK }
      let parts = unsafe OpenFileParts.of(file).move()
      unsafe file.pointee.pMethods = parts.usual
      return unsafe parts.usual.pointee.xClose(file)
    }
    unsafe of(file).initialize(
      to: Self(methods: methods, usual: usual, size: size))
    unsafe file.pointee.pMethods = UnsafeRawPointer(of(file)).assumingMemoryBound(
      to: sqlite3_io_methods.self)
  }
}
