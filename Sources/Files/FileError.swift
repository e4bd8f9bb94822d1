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

/// Checks of what this user may do with files.
public enum FileAccess {
  /// Checks that this user may write to a file, or add files to a folder and remove them.
  ///
  /// A symbolic link is followed. The corresponding C function is `faccessat` with `AT_EACCESS`.
  public static func checkWriting(to path: String) throws(FileError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .last(at: path) }
    let mode = status.st_mode & S_IFMT == S_IFDIR ? W_OK | X_OK : W_OK
    // The effective user counts, as that is who writes. Plain `access` asks for the real one.
    guard unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 else { throw .last(at: path) }
  }

  /// Returns why this user cannot read a file; `nil` if they can.
  public static func errorOfReading(_ path: String) -> FileError? {
    do throws(FileError) { _ = try OpenFile(readingThroughLinks: path) } catch { return error }
    return nil
  }

  /// Checks that this user may write to a file, or create it and the missing folders above it; creates nothing.
  public static func checkCreating(at path: String) throws(FileError) {
    if let there = try? FileStatus.of(path) {
      if there.kind == .directory { throw FileError(EISDIR, at: path) }
      return try checkWriting(to: path)
    }
    var rest = path.utf8[...]
    while true {
      while rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
      let slash = rest.lastIndex(of: UInt8(ascii: "/"))
      rest = slash.map { rest[...$0] } ?? rest.prefix(0)
      let folder = rest.isEmpty ? "." : String(decoding: Array(rest), as: UTF8.self)
      do throws(FileError) {
        try checkWriting(to: folder)
        _ = try Directory(folder, followingLink: true)
        return
      } catch {
        // A file in the place of a folder is an error, too.
        let isMissing = error.number == ENOENT && !rest.isEmpty
        guard isMissing else { throw FileError(error.number, at: path) }
      }
    }
  }

  /// Checks that this user may create a file with ``NewFile``, or replace it; creates nothing.
  public static func checkReplacing(at path: String) throws(FileError) {
    if (try? FileStatus.of(path))?.kind == .directory { throw FileError(EISDIR, at: path) }
    // Another name, as not the file itself is written to.
    do throws(FileError) { try checkCreating(at: path + ".partial.none") } catch {
      throw FileError(error.number, at: path)
    }
  }

  /// Whether a file belongs to this user; a symbolic link is followed.
  public static func isOwn(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_uid == geteuid()
  }
}
