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

  /// Copies a regular file into the folder, unless a signal is to end the process meanwhile, which is
  /// an error too.
  ///
  /// - Parameter name: What the copy is called.
  public borrowing func copy(_ source: String, as name: String) throws(FileError) {
    let input = try OpenFile(reading: source)
    let output = try OpenFile(creating: "\(path)/\(name)")
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      if signals.haveCome { throw FileError(EINTR, at: source) }
      let count = try input.read(into: &buffer)
      if count == 0 { return }
      if count == buffer.count {
        try output.write(buffer)
      } else {
        try output.write(Array(buffer[..<count]))
      }
    }
  }

  deinit {
    // The folder holds plain files only, as nobody else can write to it. What cannot be removed
    // stays in the system's folder for temporary files, which the system empties.
    if let directory = try? Directory(path) {
      try? directory.forEachName { name in
        _ = unsafe unlinkat(directory.descriptor, String(decoding: name, as: UTF8.self), 0)
      }
    }
    unsafe rmdir(path)
  }
}
