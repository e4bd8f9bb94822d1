#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder that only this user may look into, and that goes with its owner.
///
/// As long as it is there, the signals that a user ends a process by are held back: they come once
/// it is gone. `SIGKILL` leaves it behind.
public struct TemporaryDirectory: ~Copyable {
  /// The path of the folder.
  public let path: String

  // It goes after the folder, as the fields of a value go when its `deinit` is done.
  private let signals = HeldSignals()

  /// Creates a folder below `parent`, under a name that nobody can foresee.
  public init(in parent: String) throws(FileError) {
    // The system puts letters in the place of the six at the end.
    var template = Array("\(parent)/urlcache-admin.XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { template -> String? in
      guard let start = template.baseAddress, let path = unsafe mkdtemp(start) else {
        return nil
      }
      return unsafe String(cString: path)
    }
    guard let made else { throw .last(at: parent) }
    path = made
  }

  /// Whether a signal is to end the process, so that there is no use in going on.
  public var signalsHaveCome: Bool { signals.haveCome }

  /// Creates a folder in the folder, which goes with it.
  public borrowing func makeFolder(_ name: String) throws(FileError) -> Directory {
    try Directory.create("\(path)/\(name)")
    return try Directory("\(path)/\(name)")
  }

  /// Copies a regular file into the folder, unless a signal is to end the process meanwhile, which is
  /// an error too.
  ///
  /// - Parameter name: What the copy is called.
  public borrowing func copy(_ source: String, as name: String) throws(FileError) {
    try copy(OpenFile(reading: source), as: name)
  }

  /// Copies a regular file that is open into the folder, from its beginning on, as the other function does.
  public borrowing func copy(
    _ source: borrowing OpenFile, as name: String
  ) throws(FileError) {
    let output = try OpenFile(creating: "\(path)/\(name)")
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    while true {
      if signals.haveCome { throw FileError(EINTR, at: source.path) }
      let count = try source.read(buffer.count, at: offset, into: &buffer)
      if count == 0 { return }
      try output.write(buffer[..<count])
      offset += Int64(count)
    }
  }

  deinit {
    // Nobody else can write to the folder. What cannot be removed stays in the system's folder for
    // temporary files, which the system empties.
    if let directory = try? Directory(path) { Self.empty(directory) }
    unsafe rmdir(path)
  }

  /// Removes what is in a folder that only this process has written to.
  private static func empty(_ directory: borrowing Directory) {
    try? directory.forEachName { name in
      do throws(FileError) { try directory.remove(name) } catch {
        // A folder, of the few that were made here.
        let name = String(decoding: name, as: UTF8.self)
        guard let folder = try? Directory(name, in: directory) else { return }
        empty(folder)
        _ = unsafe unlinkat(directory.descriptor, name, AT_REMOVEDIR)
      }
    }
  }
}
