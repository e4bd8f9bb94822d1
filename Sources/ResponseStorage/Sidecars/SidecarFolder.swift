public import Bytes
public import Files

/// A file that an app keeps the `ETag` of one URL in.
public struct Sidecar: Hashable, Sendable {
  /// What is in a side file.
  public enum Content: Hashable, Sendable {
    /// An `ETag`.
    case tag(ByteString)
    /// Nothing that can be used, and why: a clause without text from the file.
    case unreadable(String)
  }

  /// Its name in the folder.
  public let name: ByteString
  /// What is in it.
  public let content: Content
  /// The file, as it was when it was looked at; `nil` if it is no regular file or cannot be read.
  public let file: FileVersion?

  /// The `ETag`; `nil` if it cannot be read.
  public var tag: ByteString? {
    if case .tag(let tag) = content { tag } else { nil }
  }
}

/// A folder of side files, each of which is named by a hash of a URL and holds the archived `ETag` of its response.
///
/// Neither the folder nor a file in it may be a symbolic link. All are read when it is opened, as there are few, and
/// each is small.
public final class SidecarFolder {
  /// The path that the folder was opened by.
  public let path: String

  /// The files that are named as side files are, by their names.
  public let files: [ByteString: Sidecar]

  /// The names of all else in the folder, in ascending order.
  public let others: [ByteString]

  private let directory: Directory

  /// Opens a folder, and reads its side files.
  ///
  /// - Throws: `FileError` if it is no folder, or a symbolic link, or cannot be read.
  public init(_ path: String) throws(FileError) {
    // A link with a slash after it is what it leads to.
    let path = path.withoutTrailingSlashes
    // A link to a folder would else be told as something that is no folder.
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
      // Reading names fails in no other way.
      throw .interrupted(at: directory.path)
    }
    return (files, others.sorted())
  }

  /// The `ETag` that is kept for a URL, whichever way its file is named; `nil` if there is none.
  public func sidecar(of url: ByteString) -> Sidecar? {
    SidecarNaming.names(of: url).lazy.compactMap { self.files[$0.text] }.first
  }

  /// Removes a side file, if it is still the one that was looked at and holds an archived string.
  ///
  /// - Returns: Whether it was removed.
  public func remove(_ sidecar: Sidecar) throws(FileError) -> Bool {
    guard sidecar.file != nil, sidecar.tag != nil,
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

  /// Writes a side file that is not there yet, which only its owner may read; it appears whole or not at all.
  ///
  /// - Returns: Whether it was written; something else may have got its name meanwhile.
  public func create(_ name: ByteString, holding tag: ByteString) throws(FileError) -> Bool {
    guard SidecarNaming.allCases.contains(where: { $0.mayMake(name.bytes) }),
      let bytes = ETagArchive.bytes(of: tag), let text = name.string, isStillThere()
    else { return false }
    do throws(FileError) {
      var file = try NewFile(at: directory.path(of: text), replacing: false)
      try file.write(bytes)
      try file.commit(replacing: false)
    } catch {
      if error.kind == .exists { return false }
      throw error
    }
    return true
  }

  /// Whether the path still leads to the folder that was opened.
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
      // What is opened could be a device: its kind is looked at before.
      let kind = try directory.status(of: name.bytes).kind
      guard kind == .regular else { return unreadable("it is \(kind.rawValue)") }
      let opened = try OpenFile(reading: name.bytes, in: directory)
      let status = try opened.status()
      guard status.kind == .regular, status.identity.count == 2 else {
        return unreadable("it is \(status.kind.rawValue)")
      }
      let file = FileVersion(
        number: status.identity[1], modified: status.modified, size: status.size)
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
