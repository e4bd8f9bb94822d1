internal import CSQLite

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
