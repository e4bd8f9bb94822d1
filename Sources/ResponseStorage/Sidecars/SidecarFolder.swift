public import Bytes
public import Files

/// A file in which an app keeps the `ETag` of one URL.
public struct Sidecar: Hashable, Sendable {
  /// The content of a sidecar file.
  public enum Content: Hashable, Sendable {
    /// An `ETag`.
    case tag(ByteString)
    /// No usable content, with the reason: a clause without text from the file.
    case unreadable(String)
  }

  /// The name in the folder.
  public let name: ByteString
  /// The content.
  public let content: Content
  /// The version of the file when it was read; `nil` if it is not a regular file or cannot be read.
  public let file: FileVersion?

  /// The `ETag`; `nil` if it cannot be read.
  public var tag: ByteString? {
    if case .tag(let tag) = content { tag } else { nil }
  }
}

/// A folder of sidecar files, each of which has a hash of a URL as its name and contains the archived `ETag` of its
/// response.
///
/// Neither the folder nor a file in it may be a symbolic link. All files are read at opening, as they are few and
/// small.
public final class SidecarFolder {
  /// The path with which the folder was opened.
  public let path: String

  /// The files with names of sidecar files, by their names.
  public let files: [ByteString: Sidecar]

  /// The names of all other files, in ascending order.
  public let others: [ByteString]

  private let directory: Directory

  /// Opens a folder, and reads its sidecar files.
  ///
  /// - Throws: `FileError` if it is not a folder, is a symbolic link, or cannot be read.
  public init(_ path: String) throws(FileError) {
    // With a trailing slash, the system would follow a symbolic link.
    let path = path.withoutTrailingSlashes
    // Check for a link first; opening it would report that it is not a folder.
    if try FileStatus.of(path).kind == .symbolicLink { throw .symbolicLink(at: path) }
    self.path = path
    directory = try Directory(path)
    (files, others) = try Self.contents(of: directory)
  }

  private static func contents(
    of directory: borrowing Directory
  ) throws(FileError) -> (files: [ByteString: Sidecar], others: [ByteString]) {
    var files: [ByteString: Sidecar] = [:]
    var others: [ByteString] = []
    do {
      try directory.forEachName { name in
        if SidecarNaming.allCases.contains(where: { $0.mayMake(name) }) {
          files[ByteString(name)] = read(ByteString(name), in: directory)
        } else {
          others.append(ByteString(name))
        }
      }
    } catch let error as FileError {
      throw error
    } catch {
      // `forEachName` throws no other errors.
      throw .interrupted(at: directory.path)
    }
    return (files, others.sorted())
  }

  /// Returns the file with the `ETag` of a URL, however it is named; `nil` if there is none.
  public func sidecar(of url: ByteString) -> Sidecar? {
    SidecarNaming.names(of: url).lazy.compactMap { self.files[$0.text] }.first
  }

  /// Removes a sidecar file if it has not changed since it was read, and contains an archived string.
  ///
  /// - Returns: Whether it was removed.
  public func remove(_ sidecar: Sidecar) throws(FileError) -> Bool {
    // A file that cannot be read is never removed: its name looks like a digest, but it may be a
    // file of the user.
    guard sidecar.file != nil, sidecar.tag != nil,
      // Compared by content and version: the app may have written another `ETag` since the plan was
      // made.
      Self.read(sidecar.name, in: directory) == sidecar
    else { return false }
    do throws(FileError) {
      try directory.remove(sidecar.name.bytes)
    } catch {
      if error.kind == .notFound { return false }
      throw error
    }
    return true
  }

  /// Writes a new sidecar file, which only its owner may read; it appears complete or not at all.
  ///
  /// - Returns: Whether it was written; `false` also if another file has got its name meanwhile.
  public func create(_ name: ByteString, holding tag: ByteString) throws(FileError) -> Bool {
    guard SidecarNaming.allCases.contains(where: { $0.mayMake(name.bytes) }),
      // The file is created by its path, and not in the open folder. If the folder was renamed
      // meanwhile, it would end up in another one.
      let bytes = ETagArchive.bytes(of: tag), let text = name.string, isStillThere()
    else { return false }
    do throws(FileError) {
      // Under another name first, as an app that reads half an archive would take the `ETag` for
      // missing.
      var file = try NewFile(at: directory.path(of: text), replacing: false)
      try file.write(bytes)
      try file.commit(replacing: false)
    } catch {
      if error.kind == .exists { return false }
      throw error
    }
    return true
  }

  /// Whether the path still leads to the open folder.
  private func isStillThere() -> Bool {
    guard let there = try? FileStatus.of(path), let own = try? directory.status() else {
      return false
    }
    return there.kind == .directory && there.identity == own.identity
  }

  private static func read(_ name: ByteString, in directory: borrowing Directory) -> Sidecar {
    func unreadable(_ reason: String, _ file: FileVersion? = nil) -> Sidecar {
      Sidecar(name: name, content: .unreadable(reason), file: file)
    }
    do throws(FileError) {
      // Check the kind before opening, as opening a device can have effects.
      let kind = try directory.status(of: name.bytes).kind
      guard kind == .regular else { return unreadable("it is \(kind.rawValue)") }
      let opened = try OpenFile(reading: name.bytes, in: directory)
      let status = try opened.status()
      guard status.kind == .regular, status.identity.count == 2 else {
        return unreadable("it is \(status.kind.rawValue)")
      }
      let file = FileVersion(
        number: status.identity[1], modified: status.modified, size: status.size)
      // One byte more than the limit, so that a longer file is refused.
      let bytes = try opened.read(ETagArchive.maximumCount + 1, at: 0)
      do throws(ETagArchive.Refusal) {
        return Sidecar(name: name, content: .tag(try ETagArchive.tag(in: bytes)), file: file)
      } catch {
        return unreadable(error.description, file)
      }
    } catch {
      return unreadable("it cannot be read: \(error.reason)")
    }
  }
}
