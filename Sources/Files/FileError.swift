#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A failure that the operating system reported.
public struct FileError: Error, Hashable, Sendable {
  /// The kinds of failure that a program can act on.
  public enum Kind: Hashable, Sendable {
    /// There is no such file (`ENOENT`, `ENOTDIR`).
    case notFound
    /// The system refused access (`EACCES`, `EPERM`, `EROFS`).
    case accessDenied
    /// The last component of the path is a symbolic link (`ELOOP`).
    case symbolicLink
    /// The file is there already (`EEXIST`).
    case exists
    /// There is no room left for what was to be written (`ENOSPC`, `EDQUOT`).
    case noRoom
    /// Nobody reads the other end of the pipe (`EPIPE`).
    case brokenPipe
    /// Another process is writing it (`EWOULDBLOCK`).
    case busy
    /// Anything else.
    case other
  }

  /// The number of the failure, as in `errno`.
  public let number: Int32

  /// The path of the file.
  public let path: String

  /// Creates an error from the number of the failure.
  public init(_ number: Int32, at path: String) {
    self.number = number
    self.path = path
  }

  /// The error of what a signal has cut short.
  public static func interrupted(at path: String) -> FileError { FileError(EINTR, at: path) }

  /// The error that a device, a pipe or the like is where a file would be put in its place.
  public static func notReplaceable(at path: String) -> FileError { FileError(ENOTSUP, at: path) }

  /// The error that a symbolic link is where none may be.
  public static func symbolicLink(at path: String) -> FileError { FileError(ELOOP, at: path) }

  /// The error that `errno` names now.
  static func last(at path: String) -> FileError { FileError(errno, at: path) }

  /// What kind of failure it is.
  public var kind: Kind {
    switch number {
    case ENOENT, ENOTDIR: .notFound
    case EACCES, EPERM, EROFS: .accessDenied
    case ELOOP: .symbolicLink
    case EEXIST: .exists
    case ENOSPC, EDQUOT: .noRoom
    case EPIPE: .brokenPipe
    case EWOULDBLOCK: .busy
    default: .other
    }
  }

  /// The system's own words for the failure.
  public var reason: String {
    var buffer = [CChar](repeating: 0, count: 256)
    return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress, unsafe strerror_r(number, start, buffer.count) == 0
      else { return "error \(number)" }
      return unsafe String(cString: start)
    }
  }
}

extension FileError: CustomStringConvertible {
  public var description: String { "'\(path)': \(reason)" }
}
