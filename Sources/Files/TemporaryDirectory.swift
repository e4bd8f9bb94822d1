import Bytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder that only this user can access, and that is removed when its owner is destroyed.
///
/// While it exists, the signals with which a user ends a process are held: they are delivered after the
/// folder is removed. `SIGKILL` leaves it behind.
public struct TemporaryDirectory: ~Copyable {
  /// The path of the folder.
  public let path: String

  // Fields are destroyed after `deinit`, so the signals are released after the folder is removed.
  private let signals = HeldSignals()

  /// Creates a folder with an unpredictable name in `parent`.
  public init(in parent: String) throws(FileError) {
    // The system replaces the six letters at the end.
    var template = Array("\(parent)/urlcache-admin.XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { template -> String? in
      // `mkdtemp` creates the folder with mode 0700 and never uses one that exists, which another
      // user could have prepared.
      guard let start = template.baseAddress, let path = unsafe mkdtemp(start) else {
        return nil
      }
      return unsafe String(cString: path)
    }
    guard let made else { throw .last(at: parent) }
    path = made
  }

  /// Whether a signal is pending that will end the process, so that it should stop its work.
  public var signalsHaveCome: Bool { signals.haveCome }

  /// Creates a subfolder, which is removed with the folder.
  public borrowing func makeFolder(_ name: String) throws(FileError) -> Directory {
    try Directory.create("\(path)/\(name)")
    return try Directory("\(path)/\(name)")
  }

  /// Copies a regular file into the folder. A signal that ends the process stops the copy, which is an error
  /// too.
  ///
  /// - Parameter name: The name of the copy.
  public borrowing func copy(_ source: String, as name: String) throws(FileError) {
    try copy(OpenFile(reading: source), as: name)
  }

  /// Copies an open regular file into the folder, from its beginning, like the function above. Holes stay holes.
  ///
  /// - Parameter milliseconds: The longest time that the copy may take; `nil` for any.
  /// - Returns: `false` if the time was over before the end of the file.
  /// - Throws: ``FileError``, of the kind `noRoom` before anything is written if there is no room for what the file takes on
  ///   its own file system.
  @discardableResult
  public borrowing func copy(
    _ source: borrowing OpenFile, as name: String, within milliseconds: Int64? = nil
  ) throws(FileError) -> Bool {
    let status = try source.status()
    // Its author may have made a file of any length that takes almost no room.
    let size = status.size.bytes
    guard try FileSystemStatus.of(path).availableBytes > min(status.size, status.allocatedSize)
    else { throw FileError(ENOSPC, at: path) }
    let output = try OpenFile(creating: "\(path)/\(name)")
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    let end = milliseconds.map { LocalTime.steadyMilliseconds() + $0 }
    while let part = source.nextData(from: offset, size: size) {
      offset = part.lowerBound
      try output.skip(to: offset)
      while offset < part.upperBound {
        if signals.haveCome { throw FileError(EINTR, at: source.path) }
        if let end, LocalTime.steadyMilliseconds() > end { return false }
        let most = Int(min(Int64(buffer.count), part.upperBound - offset))
        let count = try source.read(most, at: offset, into: &buffer)
        // It was cut meanwhile.
        if count == 0 { break }
        try output.write(buffer[..<count])
        offset += Int64(count)
      }
      offset = part.upperBound
    }
    try output.setLength(size)
    return true
  }

  deinit {
    // No other user can write to the folder. What cannot be removed stays in the folder for temporary
    // files, which the system empties.
    if let directory = try? Directory(path) { Self.empty(directory) }
    unsafe rmdir(path)
  }

  /// Removes the contents of a folder to which only this process has written.
  private static func empty(_ directory: borrowing Directory) {
    try? directory.forEachName { name in
      do throws(FileError) { try directory.remove(name) } catch {
        // It is one of the few folders created here.
        let name = String(decoding: name, as: UTF8.self)
        guard let folder = try? Directory(name, in: directory) else { return }
        empty(folder)
        _ = unsafe unlinkat(directory.descriptor, name, AT_REMOVEDIR)
      }
    }
  }
}

/// An unnamed file, which disappears with its owner, however the process ends.
public struct TemporaryFile: ~Copyable, Sendable {
  let descriptor: Int32
  let folder: String

  /// The number of bytes written.
  public private(set) var size: Int64 = 0

  /// The folder for temporary files.
  public static var folder: String {
    CurrentProcess.variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }

  /// Creates an empty file on the file system of `folder`.
  public init(in folder: String = Self.folder) throws(FileError) {
    // The system replaces the six letters at the end.
    var template = Array("\(folder)/urlcache-admin.XXXXXX".utf8CString)
    // A signal between the two calls would leave the name behind.
    let signals = HeldSignals()
    defer { extendLifetime(signals) }
    let descriptor = unsafe template.withUnsafeMutableBufferPointer { template -> Int32 in
      guard let start = template.baseAddress else { return -1 }
      // `mkstemp` creates the file with O_EXCL and mode 0600, so no other user of `/tmp` can
      // prepare a link under the name or read what is written. O_TMPFILE would need no name at all,
      // but not every file system has it, and macOS does not.
      let descriptor = unsafe mkstemp(start)
      // Without a name, the system frees the file however the process ends.
      if descriptor >= 0 { unsafe unlink(start) }
      return descriptor
    }
    guard descriptor >= 0 else { throw FileError.last(at: folder).ofTemporaryFile }
    self.descriptor = descriptor
    self.folder = folder
  }

  deinit {
    close(descriptor)
  }

  /// Appends bytes.
  public mutating func append(_ bytes: [UInt8]) throws(FileError) {
    try write(bytes[...])
    size += Int64(bytes.count)
  }

  /// Writes bytes after the last write, without counting them in ``size``. Other threads may read meanwhile.
  public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
    do throws(FileError) { try writeAll(bytes, to: descriptor, path: folder) } catch {
      throw error.ofTemporaryFile
    }
  }

  /// Reads from `offset` into the start of `buffer`.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  public borrowing func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int
  {
    do throws(FileError) {
      return try readSome(from: descriptor, buffer.count, at: offset, into: &buffer, path: folder)
    } catch {
      throw error.ofTemporaryFile
    }
  }
}
