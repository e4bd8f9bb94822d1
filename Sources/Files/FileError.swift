#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An error that the operating system reported.
public struct FileError: Error, Hashable, Sendable {
  /// The kinds of failure that a program can act on.
  public enum Kind: Hashable, Sendable {
    /// There is no such file (`ENOENT`, `ENOTDIR`).
    case notFound
    /// The system refused access (`EACCES`, `EPERM`, `EROFS`).
    case accessDenied
    /// The last component of the path is a symbolic link (`ELOOP`).
    case symbolicLink
    /// The file already exists (`EEXIST`).
    case exists
    /// The disk is full, or the quota is used up (`ENOSPC`, `EDQUOT`).
    case noRoom
    /// The other end of the pipe is closed (`EPIPE`).
    case brokenPipe
    /// Another process is writing it (`EWOULDBLOCK`).
    case busy
    /// Anything else.
    case other
  }

  /// The `errno` of the failure.
  public let number: Int32

  /// The path of the file.
  public let path: String

  /// Whether it is about an unnamed file, which has the path of its folder.
  public private(set) var isOfTemporaryFile = false

  /// Creates an error from an `errno`.
  public init(_ number: Int32, at path: String) {
    self.number = number
    self.path = path
  }

  /// Returns the error for a pipe that no process reads.
  public static func withoutReader(at path: String) -> FileError { FileError(EPIPE, at: path) }

  /// Returns the error for an operation that a signal interrupted.
  public static func interrupted(at path: String) -> FileError { FileError(EINTR, at: path) }

  /// Returns the error for a device, pipe or the like where a file would be replaced.
  public static func notReplaceable(at path: String) -> FileError { FileError(ENOTSUP, at: path) }

  /// Returns the error for a symbolic link where none is allowed.
  public static func symbolicLink(at path: String) -> FileError { FileError(ELOOP, at: path) }

  /// Returns the error for a file that ends before what was written to it.
  public static func incomplete(at path: String) -> FileError { FileError(EIO, at: path) }

  /// Returns the error for a file or folder that others than this user can change.
  public static func changeableByOthers(at path: String) -> FileError {
    FileError(EOWNERDEAD, at: path)
  }

  /// Returns the error for a full disk.
  public static func noRoom(at path: String) -> FileError { FileError(ENOSPC, at: path) }

  /// Returns the error as one of an unnamed file in the folder at its path.
  public var ofTemporaryFile: FileError {
    var error = self
    error.isOfTemporaryFile = true
    return error
  }

  /// Returns the error for the current `errno`.
  static func last(at path: String) -> FileError { FileError(errno, at: path) }

  /// The kind of failure.
  public var kind: Kind {
    switch number {
    case ENOENT, ENOTDIR: .notFound
    case EACCES, EPERM, EROFS: .accessDenied
    // What `open` with O_NOFOLLOW reports for a link. FreeBSD reports EMLINK.
    case ELOOP: .symbolicLink
    case EEXIST: .exists
    case ENOSPC, EDQUOT: .noRoom
    case EPIPE: .brokenPipe
    // `flock` with LOCK_NB reports a lock of another process in this way.
    case EWOULDBLOCK: .busy
    default: .other
    }
  }

  /// The reason of a refusal that no permission lifts: macOS so protects places from programs, whoever owns these. A missing
  /// permission is another one (`EACCES`).
  public static let protectionReason = FileError(EPERM, at: "").reason

  /// The system's message for the failure.
  public var reason: String {
    var buffer = [CChar](repeating: 0, count: 256)
    return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
      // `strerror` would return a buffer that all threads share.
      guard let start = buffer.baseAddress, unsafe strerror_r(number, start, buffer.count) == 0
      else { return "error \(number)" }
      return unsafe String(cString: start)
    }
  }
}

extension FileError: CustomStringConvertible {
  public var description: String { "'\(path)': \(reason)" }
}
