import Bytes
import Files

/// The files of a Foundation store, each of which is one stored response.
///
/// A name can belong to anything, such as a link or a pipe: only regular files are opened.
struct FoundationFiles: ~Copyable {
  let folder: Directory

  /// The path that the user gave.
  let path: String

  /// Opens the folder at `path`, which may be a link to one.
  init(at path: String) throws(StoreError) {
    self.path = path
    // With `/.`, the path may be a link to a folder, which `Directory` would otherwise refuse.
    do throws(FileError) { folder = try Directory(path + "/.") } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Returns the device and inode of the folder.
  borrowing func identity() throws(StoreError) -> [UInt64] {
    do throws(FileError) { return try folder.status().identity } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Returns the names of the files of the store, in ascending order of their ids.
  borrowing func names() throws -> [FoundationFileName] {
    var names: [(id: ByteString, name: FoundationFileName)] = []
    do {
      try folder.forEachName { bytes in
        // A folder or a link with such a name is listed, too: Foundation counts it, and removes
        // such a folder with all that is in it.
        if let name = FoundationFileName(bytes) { names.append((name.id, name)) }
      }
    } catch let error as FileError {
      throw StoreError(error, path: path)
    }
    return names.sorted { $0.id < $1.id }.map(\.name)
  }

  /// Returns whether the folder contains anything that is not a file of a store.
  borrowing func hasOthers() throws -> Bool {
    var hasOthers = false
    do {
      try folder.forEachName { if FoundationFileName($0) == nil { hasOthers = true } }
    } catch let error as FileError {
      throw StoreError(error, path: path)
    }
    return hasOthers
  }

  /// Returns the status of a file; `nil` if it does not exist.
  borrowing func status(of name: FoundationFileName) throws(FileError) -> FileStatus? {
    do throws(FileError) { return try folder.status(of: name.bytes) } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  /// Returns the current version of a file; `nil` if it does not exist or is not a regular file.
  borrowing func version(of name: FoundationFileName) -> FileVersion? {
    (try? folder.status(of: name.bytes)).flatMap { FileVersion($0) }
  }

  /// Writes a file under a name that Foundation ignores.
  ///
  /// - Parameters:
  ///   - name: The name, which must not exist.
  ///   - write: Calls its parameter with each chunk.
  /// - Throws: ``StoreError`` if the file cannot be written, or any error of `write`.
  borrowing func stage(
    _ name: FoundationFileName,
    _ write: (_ append: (ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) throws {
    do {
      let file = try create(name)
      try write { chunk in
        do throws(FileError) { try file.write(chunk) } catch {
          throw StoreError(error, path: error.path)
        }
      }
    } catch {
      // A file with a temporary name would stay for ever: Foundation neither counts nor removes it.
      try? folder.remove(name.bytes)
      throw error
    }
  }

  private borrowing func create(_ name: FoundationFileName) throws(StoreError) -> OpenFile {
    do throws(FileError) { return try OpenFile(creating: name.bytes, in: folder) } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Waits until files are on disk.
  borrowing func synchronize(_ names: [FoundationFileName]) throws(FileError) {
    for name in names.dropLast() { try OpenFile(reading: name.bytes, in: folder).sendToDrive() }
    if let last = names.last { try OpenFile(reading: last.bytes, in: folder).synchronize() }
  }

  /// Renames a staged file to the name of a response, and replaces that response if there is one.
  borrowing func rename(
    _ name: FoundationFileName, to other: FoundationFileName
  ) throws(FileError) {
    try folder.rename(name.bytes, to: other.bytes)
  }

  /// Removes a staged file if it exists.
  borrowing func removeStaged(_ name: FoundationFileName) {
    if name.kind == .temporary { try? folder.remove(name.bytes) }
  }

  /// Removes a file if it is still the same version.
  ///
  /// Another process can replace a file between the check and the removal. Foundation reuses the name of an
  /// existing file only if both are stored in the same second.
  ///
  /// - Returns: Whether it was removed here; `false` if it was already removed, or is another file now.
  borrowing func remove(
    _ name: FoundationFileName, ifStill version: FileVersion
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      // A `FileVersion` exists for regular files only, so a folder with such a name is never
      // removed here.
      guard FileVersion(try folder.status(of: name.bytes)) == version else { return false }
      try folder.remove(name.bytes)
      return true
    } catch {
      guard error.kind == .notFound else { throw error }
      return false
    }
  }

  /// Removes the regular file of a response, if it exists.
  borrowing func remove(_ name: FoundationFileName) throws(FileError) {
    guard let version = version(of: name) else { return }
    _ = try remove(name, ifStill: version)
  }

  /// Waits until changes of the folder's entries are on disk.
  borrowing func synchronize() throws(FileError) { try folder.synchronize() }

  /// Opens a file after checking that it is a regular file and not empty.
  borrowing func open(_ name: FoundationFileName) throws(FoundationFileFinding) -> FoundationFile {
    // Check before opening, as opening a pipe or device can have effects, and again afterwards, as the file
    // may have been replaced meanwhile.
    let found: FoundationFileFinding
    do throws(FileError) {
      let status = try folder.status(of: name.bytes)
      if status.isFilledFile {
        let file = try OpenFile(reading: name.bytes, in: folder)
        let opened = try file.status()
        if let version = FileVersion(opened), version.size > 0 {
          return FoundationFile(file, version: version)
        }
        found = FoundationFileFinding(opened)
      } else {
        found = FoundationFileFinding(status)
      }
    } catch {
      throw FoundationFileFinding(error)
    }
    throw found
  }
}

/// Why a file of a Foundation store cannot be read as an archive.
enum FoundationFileFinding: Error, Hashable {
  /// It does not exist: Foundation replaces and removes files at any time.
  case gone
  /// It is not a regular file.
  case notRegular(FileStatus.Kind)
  /// It is empty.
  case empty
  /// The operating system failed to open or read it.
  case unreadable(FileError)

  /// Creates the error for a file that is not regular, or is empty.
  init(_ status: FileStatus) {
    self = status.kind == .regular ? .empty : .notRegular(status.kind)
  }

  /// Creates the error for an error of the operating system.
  init(_ error: FileError) {
    switch error.kind {
    case .notFound: self = .gone
    case .symbolicLink: self = .notRegular(.symbolicLink)
    case .accessDenied, .exists, .noRoom, .busy, .brokenPipe, .other: self = .unreadable(error)
    }
  }

  /// The note on a response with such a file.
  var note: StoredResponse.Note {
    switch self {
    case .gone: .init(.unreadableFile, "its file no longer exists")
    case .notRegular(let kind): .init(.notARegularFile, "its file is \(kind.rawValue)")
    case .empty: .init(.emptyFile, "its file is empty")
    case .unreadable(let error):
      .init(.unreadableFile, "its file cannot be read: \(error.reason)")
    }
  }

  /// Returns the error for reading a part of a response with such a file.
  func error(at path: String) -> StoreError {
    switch self {
    case .gone: StoreError(.noSuchResponse, at: path)
    case .notRegular, .empty: StoreError(.damaged, at: path, because: note.message)
    case .unreadable(let error): StoreError(error, path: path)
    }
  }
}

extension FileStatus {
  /// Whether this is a regular file that is not empty.
  fileprivate var isFilledFile: Bool { kind == .regular && size > 0 }
}

extension FileVersion {
  /// Creates a version from a status; `nil` unless it is a regular file.
  init?(_ status: FileStatus) {
    guard status.kind == .regular, let number = status.identity.last else { return nil }
    self.init(number: number, modified: status.modified, size: status.size)
  }
}

extension FoundationFiles {
  /// A file that is about to be removed.
  struct Doomed {
    /// Its new name, under which Foundation ignores it.
    let name: FoundationFileName
    /// Its length.
    let size: ByteCount
    /// Whether it has other names, so that it is not overwritten.
    let isLinked: Bool
  }

  /// Renames a file, if it is still the same version, and overwrites it with zeros.
  ///
  /// - Parameters:
  ///   - newName: A name that Foundation ignores: an app must not read an entry of zeros.
  ///   - synchronizing: Whether to wait until the zeros are on disk.
  /// - Returns: `nil` if it does not exist, or is another file now.
  borrowing func overwrite(
    _ name: FoundationFileName, ifStill version: FileVersion,
    renamingTo newName: FoundationFileName, synchronizing: Bool
  ) throws(FileError) -> Doomed? {
    do throws(FileError) {
      // A `FileVersion` exists for regular files only, so a pipe is not opened.
      guard FileVersion(try folder.status(of: name.bytes)) == version else { return nil }
      let file = try OpenFile(overwriting: name.bytes, in: folder)
      let status = try file.status()
      guard FileVersion(status) == version else { return nil }
      try folder.rename(name.bytes, to: newName.bytes)
      guard try folder.status(of: newName.bytes).identity == status.identity else {
        // An app has replaced the file in between.
        try folder.rename(newName.bytes, to: name.bytes)
        return nil
      }
      let isLinked = status.linkCount > 1
      if !isLinked {
        try file.overwrite()
        if synchronizing { try file.synchronize() }
      }
      return Doomed(name: newName, size: status.size, isLinked: isLinked)
    } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  /// Waits until the contents of files are on disk.
  borrowing func synchronize(_ files: [Doomed]) throws(FileError) {
    if try folder.synchronizeFileSystem() { return }
    try synchronize(files.map(\.name))
  }

  /// Removes overwritten files.
  borrowing func remove(_ files: [Doomed]) throws(FileError) {
    for file in files { try folder.remove(file.name.bytes) }
  }
}
