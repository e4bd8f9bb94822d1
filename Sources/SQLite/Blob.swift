internal import CSQLite

/// A BLOB or text that is open for reading in chunks.
@safe
public struct Blob: ~Copyable {
  private let handle: OpaquePointer

  /// The length, in bytes.
  public let count: Int

  /// Takes over a handle that no one else will close.
  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
    unsafe count = Int(sqlite3_blob_bytes(handle))
  }

  deinit {
    unsafe sqlite3_blob_close(handle)
  }

  /// Fills `buffer` with `count` bytes from `offset`, which must lie within the value.
  public borrowing func read(into buffer: inout [UInt8], count: Int, at offset: Int)
    throws(SQLiteError)
  {
    precondition(count <= buffer.count)
    let code = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe sqlite3_blob_read(handle, bytes.baseAddress, Int32(count), Int32(offset))
    }
    guard code == SQLITE_OK else {
      // The handle of a value does not lead to its connection, which has the detailed message.
      throw SQLiteError(code: code, message: "cannot read a value: \(Self.words(for: code))")
    }
  }

  private static func words(for code: Int32) -> String {
    unsafe String(cString: sqlite3_errstr(code))
  }
}
