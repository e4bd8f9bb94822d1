internal import CSQLite

/// A database that is read ahead.
///
/// What was read ahead does not follow changes, so this is for databases that no process changes.
@safe
struct ReadAheadFile: ~Copyable, LayeredFile {
  /// The name of the file system with such databases.
  static let fileSystem = unsafe FileSystemLayer.register(
    "urlcache-admin-read-ahead", adding: Self.byteCount
  ) { system, name, file, flags, outFlags in
    let code = unsafe FileSystemLayer.open(system, name, file, flags, outFlags)
    if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file {
      unsafe readAhead(in: file, name)
    }
    return code
  }

  let usual: UnsafePointer<sqlite3_io_methods>
  private let names: OwnFileNames
  private var ahead = ReadAhead()
  /// The size of the file, in bytes.
  private let size: Int64

  /// Makes an open database read ahead, unless its size is unknown.
  private static func readAhead(
    in file: UnsafeMutablePointer<sqlite3_file>, _ name: UnsafePointer<CChar>?
  ) {
    var size: Int64 = 0
    guard let usual = unsafe file.pointee.pMethods,
      unsafe usual.pointee.xFileSize(file, &size) == SQLITE_OK
    else { return unsafe OwnDatabaseFile.prepare(file, name) }
    var methods = unsafe usual.pointee
    // A database that nobody changes has no log, and so needs no shared memory.
    unsafe (methods.iVersion, methods.xShmMap) = (3, nil)
    unsafe methods.xRead = { file, buffer, count, offset in
      guard let file = unsafe file, let buffer = unsafe buffer else { return SQLITE_IOERR }
      let added = unsafe ReadAheadFile.of(file)
      let (usual, size) = unsafe (added.pointee.usual, added.pointee.size)
      return unsafe added.pointee.ahead.fill(
        .init(start: buffer, count: Int(count)), at: offset, ofFileWith: size
      ) { buffer, offset in
        unsafe usual.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), offset)
      }
    }
    // SQLite uses these for memory maps. Instead, they spare copying each page that was read ahead. The memory is private,
    // so unlike that of a map it stays as it is when another process changes or truncates the file.
    unsafe methods.xFetch = { file, offset, count, page in
      guard let file = unsafe file, let page = unsafe page else { return SQLITE_IOERR }
      unsafe page.pointee = ReadAheadFile.of(file).pointee.ahead.hold(Int(count), at: offset)
      return SQLITE_OK
    }
    unsafe methods.xUnfetch = { file, _, page in
      if let file = unsafe file, let page = unsafe page {
        unsafe ReadAheadFile.of(file).pointee.ahead.release(page)
      }
      return SQLITE_OK
    }
    unsafe methods.xFileControl = { file, code, argument in
      // The usual file system would map the file.
      guard let file = unsafe file, code != SQLITE_FCNTL_MMAP_SIZE else { return SQLITE_NOTFOUND }
      return unsafe ReadAheadFile.of(file).pointee.usual.pointee.xFileControl(file, code, argument)
    }
    unsafe methods.xClose = { file in
      guard let file = unsafe file else { return SQLITE_OK }
      return unsafe ReadAheadFile.close(file)
    }
    unsafe add(
      Self(usual: usual, names: OwnFileNames(of: name), size: size), with: methods, to: file)
  }
}
