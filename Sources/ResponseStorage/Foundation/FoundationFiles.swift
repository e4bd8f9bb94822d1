import Bytes
import Files

/// The files of a Foundation store, each of which is one stored response.
///
/// Anything can be in the folder under such a name: only a regular file is opened.
struct FoundationFiles: ~Copyable {
  private let folder: Directory

  /// The path that the user gave.
  let path: String

  /// Opens the folder at `path`, which may be a link to one.
  init(at path: String) throws(StoreError) {
    self.path = path
    do throws(FileError) { folder = try Directory(path + "/.") } catch {
      throw StoreError(error, path: path)
    }
  }

  /// What tells the folder from all others.
  borrowing func identity() throws(StoreError) -> [UInt64] {
    do throws(FileError) { return try folder.status().identity } catch {
      throw StoreError(error, path: path)
    }
  }

  /// The names of the files of the store, in ascending order of what the store calls them.
  borrowing func names() throws -> [FoundationFileName] {
    var names: [(id: ByteString, name: FoundationFileName)] = []
    do {
      try folder.forEachName { bytes in
        if let name = FoundationFileName(bytes) { names.append((name.id, name)) }
      }
    } catch let error as FileError {
      throw StoreError(error, path: path)
    }
    return names.sorted { $0.id < $1.id }.map(\.name)
  }

  /// Whether the folder has anything that is no file of a store.
  borrowing func hasOthers() throws -> Bool {
    var hasOthers = false
    do {
      try folder.forEachName { if FoundationFileName($0) == nil { hasOthers = true } }
    } catch let error as FileError {
      throw StoreError(error, path: path)
    }
    return hasOthers
  }

  /// The status of a file; `nil` if it is gone.
  borrowing func status(of name: FoundationFileName) throws(FileError) -> FileStatus? {
    do throws(FileError) { return try folder.status(of: name.bytes) } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  /// What a file is now; `nil` if it is gone, or no regular file.
  borrowing func version(of name: FoundationFileName) -> FileVersion? {
    (try? folder.status(of: name.bytes)).flatMap { FileVersion($0) }
  }

  /// Writes a file under a name that Foundation does not see.
  ///
  /// - Parameters:
  ///   - name: The name, which no file has.
  ///   - write: Calls its parameter with each chunk.
  /// - Throws: ``StoreError`` if the file cannot be written, or what `write` throws.
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
      try? folder.remove(name.bytes)
      throw error
    }
  }

  private borrowing func create(_ name: FoundationFileName) throws(StoreError) -> OpenFile {
    do throws(FileError) { return try OpenFile(creating: name.bytes, in: folder) } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Waits until what was staged is on the disk.
  borrowing func synchronize(_ name: FoundationFileName) throws(FileError) {
    try OpenFile(reading: name.bytes, in: folder).synchronize()
  }

  /// Gives a staged file the name of a response, of which it takes the place if there is one.
  borrowing func rename(
    _ name: FoundationFileName, to other: FoundationFileName
  ) throws(FileError) {
    try folder.rename(name.bytes, to: other.bytes)
  }

  /// Removes a staged file, if it is there.
  borrowing func removeStaged(_ name: FoundationFileName) {
    if name.kind == .temporary { try? folder.remove(name.bytes) }
  }

  /// Removes a file if it still is the one that was looked at.
  ///
  /// Nobody can be kept from replacing a file between the last look and the removal. Foundation gives a
  /// new file the name of one that is there only if both are stored in the same second.
  ///
  /// - Returns: Whether it is gone because of us: not if it was gone before, or is another now.
  borrowing func remove(
    _ name: FoundationFileName, ifStill version: FileVersion
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      guard FileVersion(try folder.status(of: name.bytes)) == version else { return false }
      try folder.remove(name.bytes)
      return true
    } catch {
      guard error.kind == .notFound else { throw error }
      return false
    }
  }

  /// Removes the regular file of a response, if it is there.
  borrowing func remove(_ name: FoundationFileName) throws(FileError) {
    guard let version = version(of: name) else { return }
    _ = try remove(name, ifStill: version)
  }

  /// Waits until it is on the disk which files there are.
  borrowing func synchronize() throws(FileError) { try folder.synchronize() }

  /// Opens a file after making sure that it is a regular one that holds something.
  borrowing func open(_ name: FoundationFileName) throws(FoundationFileProblem) -> FoundationFile {
    // Looked at before, as to open a pipe or a device can have effects, and after, as another file may
    // have come to be there meanwhile.
    let found: FoundationFileProblem
    do throws(FileError) {
      let status = try folder.status(of: name.bytes)
      if status.isFilledFile {
        let file = try OpenFile(reading: name.bytes, in: folder)
        let opened = try file.status()
        if let version = FileVersion(opened), version.size > 0 {
          return FoundationFile(file, version: version)
        }
        found = FoundationFileProblem(opened)
      } else {
        found = FoundationFileProblem(status)
      }
    } catch {
      throw FoundationFileProblem(error)
    }
    throw found
  }
}

/// Why a file of a Foundation store cannot be taken for an archive.
enum FoundationFileProblem: Error, Hashable {
  /// There is none: Foundation replaces and removes files at any time.
  case gone
  /// It is something else.
  case notRegular(FileStatus.Kind)
  /// It holds nothing.
  case empty
  /// The operating system failed to open or to read it.
  case unreadable(FileError)

  /// What is wrong with a file that is none, or holds nothing.
  init(_ status: FileStatus) {
    self = status.kind == .regular ? .empty : .notRegular(status.kind)
  }

  /// What the operating system said.
  init(_ error: FileError) {
    switch error.kind {
    case .notFound: self = .gone
    case .symbolicLink: self = .notRegular(.symbolicLink)
    case .accessDenied, .exists, .noRoom, .busy, .brokenPipe, .other: self = .unreadable(error)
    }
  }

  /// What is odd about a response whose file is so.
  var note: StoredResponse.Note {
    switch self {
    case .gone: .init(.unreadableFile, "its file is gone")
    case .notRegular(let kind): .init(.notARegularFile, "its file is \(kind.rawValue)")
    case .empty: .init(.emptyFile, "its file is empty")
    case .unreadable(let error):
      .init(.unreadableFile, "its file cannot be read: \(error.reason)")
    }
  }

  /// The failure to read a part of a response whose file is so.
  func error(at path: String) -> StoreError {
    switch self {
    case .gone: StoreError(.noSuchResponse, at: path)
    case .notRegular, .empty: StoreError(.damaged, at: path, because: note.message)
    case .unreadable(let error): StoreError(error, path: path)
    }
  }
}

extension FileStatus {
  /// Whether it is that of a regular file that holds something.
  fileprivate var isFilledFile: Bool { kind == .regular && size > 0 }
}

extension FileVersion {
  /// Takes down what a status says; `nil` unless it is that of a regular file.
  init?(_ status: FileStatus) {
    guard status.kind == .regular, let number = status.identity.last else { return nil }
    self.init(number: number, modified: status.modified, size: status.size)
  }
}
