internal import CSQLite

/// A file system of SQLite that passes everything on to the usual one, except for some functions of some files.
///
/// See "The SQLite OS Interface or VFS".
enum FileSystemLayer {
  /// A function that opens a file.
  typealias Opening =
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?,
      UnsafeMutablePointer<sqlite3_file>?, Int32, UnsafeMutablePointer<Int32>?
    ) -> Int32

  /// The usual file system, which always is the same one.
  static var usual: UnsafeMutablePointer<sqlite3_vfs>? { unsafe sqlite3_vfs_find(nil) }

  /// The offset of what a layer adds to an open file: see ``LayeredFile``.
  static let offset = unsafe (Int(usual?.pointee.szOsFile ?? 0) + 15) & ~15

  /// Makes a layer known to SQLite, for as long as the process runs.
  ///
  /// - Parameters:
  ///   - title: Its name.
  ///   - byteCount: The number of bytes that it adds to an open file.
  ///   - open: Opens a file, by ``openUsual(_:_:_:_:)``.
  /// - Returns: The name to open a database with; `nil` if it cannot be registered.
  static func register(_ title: String, adding byteCount: Int, open: Opening) -> String? {
    guard let usual = unsafe usual else { return nil }
    // SQLite keeps both.
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: title.utf8.count + 1)
    unsafe name.initialize(to: 0)
    for (index, byte) in (title.utf8.map { CChar($0) } + [0]).enumerated() {
      unsafe (name + index).initialize(to: byte)
    }
    unsafe system.initialize(to: usual.pointee)
    unsafe system.pointee.pNext = nil
    unsafe system.pointee.zName = UnsafePointer(name)
    unsafe system.pointee.szOsFile = Int32(offset + byteCount)
    unsafe system.pointee.xOpen = open
    return unsafe sqlite3_vfs_register(system, 0) == SQLITE_OK ? title : nil
  }

  /// Opens a file as the usual file system does.
  static func openUsual(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let open = unsafe usual?.pointee.xOpen else { return SQLITE_ERROR }
    return unsafe open(usual, name, file, flags, outFlags)
  }
}
