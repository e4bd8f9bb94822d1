#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What happens in a folder, as the system reports it.
///
/// Only Linux reports names (`inotify`). Elsewhere, and where the system has no more room for it, there is no such
/// object, and the folder has to be looked at from time to time.
public final class FolderEvents {
  /// An event in the folder.
  public enum Event: Hashable, Sendable {
    /// A file was renamed to this name.
    case renamed([UInt8])
    /// A file with this name, which may be a new one, was closed after writing.
    case written([UInt8])
    /// A file was removed, or renamed to another name.
    case disappeared([UInt8])
    /// There were more events than the system keeps.
    case lost
  }

  private let descriptor: Int32

  /// Begins to collect what happens in a folder; `nil` if the system cannot do that.
  public init?(of path: String) {
    #if canImport(Glibc)
      // The two flags of `inotify_init1` have the values of these by definition.
      descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let wanted = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
      guard unsafe inotify_add_watch(descriptor, path, UInt32(wanted)) >= 0 else { return nil }
    #else
      return nil
    #endif
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Waits until there are events, but not longer than this.
  public func wait(milliseconds: Int) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&request, 1, Int32(clamping: milliseconds))
  }

  /// Returns the events since the last call.
  public func read() -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // Without events, reading fails with `EAGAIN`.
    while let count = try? readSome(from: descriptor, into: &buffer, path: "inotify"), count > 0 {
      Self.append(buffer[..<count], to: &events)
    }
    return events
  }

  /// Parses a sequence of `struct inotify_event`: four numbers of 32 bits, the last of which is the length of the name
  /// that follows, padded with zeros.
  static func append(_ bytes: ArraySlice<UInt8>, to events: inout [Event]) {
    #if canImport(Glibc)
      var rest = bytes
      while rest.count >= 16 {
        let mask = Int32(truncatingIfNeeded: number(at: 4, in: rest))
        let length = Int(number(at: 12, in: rest))
        let name = Array(rest.dropFirst(16).prefix(length).prefix { $0 != 0 })
        if mask & IN_Q_OVERFLOW != 0 { events.append(.lost) }
        if mask & IN_MOVED_TO != 0 { events.append(.renamed(name)) }
        if mask & IN_CLOSE_WRITE != 0 { events.append(.written(name)) }
        if mask & (IN_DELETE | IN_MOVED_FROM) != 0 { events.append(.disappeared(name)) }
        rest = rest.dropFirst(16 + length)
      }
    #endif
  }

  /// Returns a number of 32 bits in the byte order of the processor, which is little-endian wherever this runs.
  private static func number(at offset: Int, in bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
