import Bytes
import Files
import Synchronization

/// The files of a WebKit cache of one version.
///
/// A record is `Records/PARTITION/TYPE/NAME`, with hashes of 40 hexadecimal digits; a long body is `NAME-blob` next to
/// it, which has the same inode as a file of `Blobs`. Nothing is written under another name first, and nothing is
/// locked. Source: `webkit-cache.md`, "Files".
final class WebKitFiles: Sendable {
  /// A folder of records.
  struct Folder: Hashable {
    /// The name of the folder of the partition: hexadecimal digits.
    let partition: String
    /// The same, as bytes.
    let partitionBytes: [UInt8]
    /// The type of its records.
    let type: String
    /// The same, as bytes.
    let typeBytes: ByteString
    /// The type in lowercase, as lists show it.
    let shownType: ByteString

    init(partition: String, type: String) {
      (self.partition, self.type) = (partition, type)
      partitionBytes = Array(partition.utf8)
      typeBytes = ByteString(type)
      shownType = ByteString(type).asciiLowercased
    }

    /// Whether its records are responses.
    var hasResponses: Bool { type == "Resource" }
    /// Whether its records are lists of what a page loaded.
    var hasLists: Bool { type == "SubResources" }
  }

  /// The name of a record.
  struct Name {
    /// The number of its folder.
    let folder: Int
    /// The name: 40 hexadecimal digits.
    let bytes: [UInt8]
    /// Whether it was a regular file when the folder was listed; `false` if the file system does not say so in lists.
    var isRegular = false
    /// Whether it has a file for its body.
    var hasBlob = false
    /// The id of the entry.
    var id: ByteString
  }

  /// A file that belongs to no record.
  struct Other {
    let path: String
    /// Whether it can only be the body of a record that is gone.
    let isBlob: Bool
  }

  /// The path that the user gave.
  let path: String
  /// The folder of the version.
  let root: String
  /// The number in its name.
  let version: UInt32
  /// The bytes that are hashed before anything else, or `nil` if they are lost.
  let salt: [UInt8]?
  /// The device and inode of the folder of the version.
  let identity: [UInt64]
  let folders: [Folder]
  /// The records, in the order of their ids.
  let names: [Name]
  let others: [Other]

  /// How many names in the cache each file of a body has, by its inode, and how often they were counted.
  private let bodyNames = Mutex<(counts: [UInt64: UInt64], times: Int)>(([:], 0))

  /// How often may still be waited for a writer: many records that are damaged need no time.
  private let waits = Mutex(60)

  /// The folder of the version. Whatever is changed is reached from it: its owner could put another folder at its path.
  let rootFolder: Directory
  private let records: Directory
  /// The folders that are open, by their numbers.
  private let open = Mutex<[Int: OpenFolder]>([:])

  /// A folder that stays open, as there are few of them and many records.
  private final class OpenFolder: Sendable {
    let directory: Directory

    init(_ directory: consuming Directory) { self.directory = directory }
  }

  /// The file into which WebKit writes a listing of the cache when it is asked for one.
  static let listing = "dump.json"

  /// How long ago a record that looks damaged may have been written by somebody who is not done.
  private static let writingNanoseconds: Int64 = 1_000_000_000

  /// How many folders stay open.
  private static let mostOpen = 64

  /// Lists the files of the cache at a path.
  init(at path: String) throws {
    guard let place = Self.place(at: path) else { throw StoreError(.notACache, at: path) }
    self.path = path
    (root, version) = place
    do {
      let folder = try Directory(root, followingLink: true)
      identity = try folder.status().identity
      salt = try Self.salt(in: folder)
      let records = try Directory("Records", in: folder)
      var listing = Listing(path: root + "/Records")
      try listing.list(records)
      (folders, names, others) = (listing.folders, listing.names, listing.others)
      self.records = records
      rootFolder = folder
    } catch let error as FileError {
      throw StoreError(error, path: path)
    }
  }

  /// Returns the folder of the newest version with records, and that version; `nil` if there is none, or if it belongs to
  /// the Cache API of pages.
  static func place(at path: String) -> (root: String, version: UInt32)? {
    let path = path.withoutTrailingSlashes
    // The folder of a version may be given itself, also as `.`.
    let resolved = Directory.resolvedPath(path) ?? path
    let last = resolved.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    if let version = number(ofVersion: last), isVersion(path) {
      let parent = Directory.parent(of: resolved) ?? "."
      return isOfCacheAPI(parent) ? nil : (path, version)
    }
    guard !isOfCacheAPI(path), let folder = try? Directory(path + "/.") else { return nil }
    var newest: UInt32?
    try? folder.forEachName { name in
      guard let version = number(ofVersion: name), version > newest ?? 0,
        // A link could lead out of the folder.
        (try? folder.status(of: name))?.kind == .directory,
        isVersion("\(path)/Version \(version)")
      else { return }
      newest = version
    }
    return newest.map { ("\(path)/Version \($0)", $0) }
  }

  /// The number in `Version 17`, which is not written in any other way.
  static func number(ofVersion name: [UInt8]) -> UInt32? {
    let prefix = Array("Version ".utf8)
    guard name.starts(with: prefix), name.count <= prefix.count + 6,
      let number = UInt32(String(decoding: name[prefix.count...], as: UTF8.self)), number > 0,
      "Version \(number)".utf8.elementsEqual(name)
    else { return nil }
    return number
  }

  private static func isVersion(_ path: String) -> Bool {
    (try? FileStatus.of(path + "/Records"))?.kind == .directory
  }

  /// Whether a folder has the neighbours of a cache of the Cache API, whose records look like ours.
  private static func isOfCacheAPI(_ folder: String) -> Bool {
    ["origin", "cacheslist", "estimatedsize"].contains {
      (try? FileStatus.of("\(folder)/\($0)")) != nil
    }
  }

  private static func salt(in folder: borrowing Directory) throws(FileError) -> [UInt8]? {
    guard let status = try? folder.status(of: "salt"), status.kind == .regular, status.size == 8
    else { return nil }
    let bytes = try OpenFile(reading: "salt", in: folder).read(8, at: 0)
    return bytes.count == 8 ? bytes : nil
  }

  /// Whether a name is the digits of a hash, in capital or small letters.
  static func isName(_ name: [UInt8], of hash: [UInt8]) -> Bool {
    name.count == 2 * hash.count
      && hash.indices.allSatisfy { place in
        guard let high = Base16.value(of: name[2 * place]),
          let low = Base16.value(of: name[2 * place + 1])
        else { return false }
        return high << 4 | low == hash[place]
      }
  }

  /// What follows the name of a record in that of its body.
  static let blobSuffix = Array("-blob".utf8)

  /// Whether a name is a hash; WebKit writes capital letters, and reads small ones, too.
  static func isHash(_ name: ArraySlice<UInt8>) -> Bool {
    name.count == 40 && name.allSatisfy { Base16.value(of: $0) != nil }
  }

  /// Whether a text is the id of a record: its name, behind the name of its partition, and of its type if it is no
  /// response, if several have it.
  static func isID(_ text: [UInt8]) -> Bool {
    let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard let last = parts.last, isHash(last), isHash(parts[0]) else { return false }
    return parts.count <= 2 || parts.count == 3 && parts[1].allSatisfy(\.isASCIILetter)
  }

  /// Returns the record with an id; `nil` if there is none.
  func name(of id: ByteString) -> Name? {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < names.count && names[low].id == id ? names[low] : nil
  }

  /// Returns the record with a name in a partition; `nil` if there is none.
  func response(named name: [UInt8], inPartition partition: [UInt8]) -> Name? {
    // Its id is only its name, unless another folder has the same.
    let ids = [name, partition + [UInt8(ascii: "/")] + name]
    return ids.lazy.compactMap { self.name(of: ByteString($0)) }.first {
      let folder = self.folders[$0.folder]
      return folder.hasResponses && folder.partitionBytes == partition
    }
  }

  /// Calls `body` with the folder of a record.
  func withFolder<Result: ~Copyable>(
    of name: Name, _ body: (borrowing Directory) throws(FileError) -> Result
  ) throws(FileError) -> Result { try withFolder(name.folder, body) }

  /// Calls `body` with a folder of records.
  func withFolder<Result: ~Copyable>(
    _ number: Int, _ body: (borrowing Directory) throws(FileError) -> Result
  ) throws(FileError) -> Result {
    if let folder = open.withLock({ $0[number] }) { return try body(folder.directory) }
    let place = folders[number]
    let partition = try Directory(place.partition, in: records)
    let folder = OpenFolder(try Directory(place.type, in: partition))
    open.withLock { if $0.count < Self.mostOpen { $0[number] = folder } }
    return try body(folder.directory)
  }

  /// Returns the status of the file of a record, or of its body; `nil` if it does not exist any more.
  func status(of name: Name, isBlob: Bool = false) throws(FileError) -> FileStatus? {
    do throws(FileError) {
      return try withFolder(of: name) { folder throws(FileError) in
        try folder.status(of: isBlob ? name.blob : name.bytes)
      }
    } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  /// Opens the file of a record, or of its body.
  func file(_ name: Name, isBlob: Bool = false) throws(WebKitFileFinding) -> WebKitFile {
    let bytes = isBlob ? name.blob : name.bytes
    var kind = FileStatus.Kind.regular
    do throws(FileError) {
      // Checked before it is opened, as opening a device can have effects, and afterwards, as it may have been replaced.
      if isBlob || !name.isRegular {
        kind = try withFolder(of: name) { folder throws(FileError) in
          try folder.status(of: bytes).kind
        }
      }
      if kind == .regular {
        let file = try withFolder(of: name) { folder throws(FileError) in
          try OpenFile(reading: bytes, in: folder)
        }
        let status = try file.status()
        if status.kind == .regular { return WebKitFile(file, status) }
        kind = status.kind
      }
    } catch {
      throw WebKitFileFinding(error)
    }
    throw .notRegular(kind)
  }

  /// Whether a file of a record has a name outside of the cache. It is then left alone, as it is not known whose it is.
  func hasLinksElsewhere(_ name: Name, _ status: FileStatus) -> Bool {
    if status.linkCount > 1 { return true }
    guard name.hasBlob, let blob = try? self.status(of: name, isBlob: true), blob.linkCount > 1,
      let number = blob.identity.last
    else { return false }
    return bodyNames.withLock { names in
      // Once more after the first time, as WebKit may have stored the same body meanwhile.
      while names.counts[number, default: 0] < blob.linkCount {
        if names.times == 2 { return true }
        names = (countBodyNames(), names.times + 1)
      }
      return false
    }
  }

  private func countBodyNames() -> [UInt64: UInt64] {
    var counts: [UInt64: UInt64] = [:]
    func count(_ folder: borrowing Directory) {
      try? folder.forEachName { name in
        guard name.count == 40 || name.count == 45,
          let number = (try? folder.status(of: name))?.identity.last
        else { return }
        counts[number, default: 0] += 1
      }
    }
    for number in folders.indices { try? withFolder(number) { count($0) } }
    if let blobs = try? Directory("Blobs", in: rootFolder) { count(blobs) }
    return counts
  }

  /// Whether a record was written, replaced or removed since its status was read; WebKit writes into the file itself.
  func hasChanged(_ name: Name, since seen: FileStatus) -> Bool {
    guard let status = try? status(of: name) else { return true }
    return status.identity != seen.identity || status.size != seen.size
      || status.modified != seen.modified
  }

  /// Whether a record changed since its status was read; waits a moment for whoever may be writing it if it did so shortly
  /// before `now`, or later.
  func hasChanged(_ name: Name, since seen: FileStatus, waitingIfAfter now: Timestamp) -> Bool {
    if hasChanged(name, since: seen) { return true }
    guard Timestamp(nanosecondsSince1970: seen.modified &+ Self.writingNanoseconds) > now else {
      return false
    }
    for _ in 0..<20 {
      let mayWait = waits.withLock { left in
        left -= 1
        return left >= 0
      }
      guard mayWait else { return false }
      CurrentProcess.sleep(milliseconds: 5)
      if hasChanged(name, since: seen) { return true }
    }
    return false
  }

  /// Returns the path of a record, for people.
  func path(of name: Name) -> String {
    let folder = folders[name.folder]
    let text = String(decoding: name.bytes, as: UTF8.self)
    return "\(root)/Records/\(folder.partition)/\(folder.type)/\(text)"
  }
}

/// What the folders of records contain.
private struct Listing {
  /// The path of the folder of all of them.
  let path: String
  private(set) var folders: [WebKitFiles.Folder] = []
  private(set) var names: [WebKitFiles.Name] = []
  private(set) var others: [WebKitFiles.Other] = []

  init(path: String) { self.path = path }

  mutating func list(_ records: borrowing Directory) throws {
    for partition in try StoreOpening.names(in: records) {
      let path = "\(path)/\(String(decoding: partition, as: UTF8.self))"
      guard WebKitFiles.isHash(partition[...]),
        let folder = try? Directory(String(decoding: partition, as: UTF8.self), in: records)
      else {
        others.append(WebKitFiles.Other(path: path, isBlob: false))
        continue
      }
      for type in try StoreOpening.names(in: folder) {
        // Types are words of WebKit. Any other name is no folder of records.
        let name = String(decoding: type, as: UTF8.self)
        guard type.allSatisfy(\.isASCIILetter), let inner = try? Directory(name, in: folder) else {
          others.append(WebKitFiles.Other(path: "\(path)/\(name)", isBlob: false))
          continue
        }
        try list(
          inner,
          WebKitFiles.Folder(partition: String(decoding: partition, as: UTF8.self), type: name))
      }
    }
    names.sort { $0.id < $1.id }
    if makeUnique() { names.sort { $0.id < $1.id } }
  }

  private mutating func list(
    _ directory: borrowing Directory, _ folder: WebKitFiles.Folder
  ) throws {
    let number = folders.count
    folders.append(folder)
    var found: [WebKitFiles.Name] = []
    var listed: [(name: [UInt8], kind: FileStatus.Kind?)] = []
    try directory.forEachEntry { listed.append(($0, $1)) }
    // In order, so a record comes before its body.
    listed.sort { ByteString($0.name) < ByteString($1.name) }
    for (name, kind) in listed {
      if WebKitFiles.isHash(name[...]) {
        found.append(
          WebKitFiles.Name(
            folder: number, bytes: name, isRegular: kind == .regular, id: ByteString(name)))
      } else if let record = WebKitFiles.record(ofBlob: name), found.last?.bytes == record {
        found[found.count - 1].hasBlob = true
      } else {
        let path = "\(path)/\(folder.partition)/\(folder.type)"
        others.append(
          WebKitFiles.Other(
            path: "\(path)/\(String(decoding: name, as: UTF8.self))",
            isBlob: WebKitFiles.record(ofBlob: name) != nil))
      }
    }
    names += found
  }

  /// Gives records in several folders that have the same name, of which WebKit finds one at most, ids with the folder.
  ///
  /// - Returns: Whether there are any.
  private mutating func makeUnique() -> Bool {
    let repeated = Set(zip(names, names.dropFirst()).filter { $0.id == $1.id }.map(\.0.id))
    if repeated.isEmpty { return false }
    for index in names.indices where repeated.contains(names[index].id) {
      let folder = folders[names[index].folder]
      // No hash of WebKit is that of two types.
      let place = folder.hasResponses ? folder.partition : "\(folder.partition)/\(folder.type)"
      names[index].id = ByteString(Array("\(place)/".utf8) + names[index].bytes)
    }
    return true
  }
}

extension WebKitFiles.Name {
  /// The name of the file of its body.
  var blob: [UInt8] { bytes + WebKitFiles.blobSuffix }
}

/// Why a file of a WebKit cache cannot be read.
enum WebKitFileFinding: Error, Hashable {
  /// It does not exist any more: WebKit removes files at any time.
  case gone
  case notRegular(FileStatus.Kind)
  case unreadable(FileError)
  case malformed(WebKitFormatError)
  /// Its header is longer than those that are read.
  case tooLarge
  /// It is far longer than the data in it.
  case sparse

  init(_ error: FileError) {
    switch error.kind {
    case .notFound: self = .gone
    case .symbolicLink: self = .notRegular(.symbolicLink)
    case .accessDenied, .exists, .noRoom, .busy, .brokenPipe, .other: self = .unreadable(error)
    }
  }

  /// The note on a response with such a record.
  var note: StoredResponse.Note {
    switch self {
    case .gone: .init(.unreadableFile, "its record no longer exists")
    case .notRegular(let kind): .init(.notARegularFile, "its record is \(kind.rawValue)")
    case .unreadable(let error):
      .init(.unreadableFile, "its record cannot be read: \(error.reason)")
    case .malformed(let error):
      .init(.undecodable, "its record cannot be decoded: \(error.reason)")
    case .tooLarge: .init(.tooLarge, "its header is longer than 4 MiB")
    case .sparse: .init(.tooLarge, "its body is a sparse file, far longer than the data in it")
    }
  }
}

/// An open record, or an open body of one.
struct WebKitFile: ~Copyable {
  let file: OpenFile
  let status: FileStatus
  /// What is read at once: the records of most responses have less.
  private static let firstRead = 4_096
  /// The longest header. A real one has some kilobytes, and lists of resources some dozens.
  static let largestHeader = ByteCount(4 << 20)

  init(_ file: consuming OpenFile, _ status: FileStatus) {
    self.file = file
    self.status = status
  }

  /// Reads the beginning of a record.
  ///
  /// - Returns: What it says, and the bytes that were read.
  borrowing func readMetadata() throws(WebKitFileFinding) -> (WebKitMetadata, bytes: [UInt8]) {
    let bytes = try read(Self.firstRead, at: 0)
    do throws(WebKitFormatError) { return (try WebKitMetadata(bytes[...]), bytes) } catch {
      if bytes.count < Self.firstRead { throw .malformed(error) }
    }
    // A URL can be longer than that.
    let more = try read(64 * Self.firstRead, at: 0)
    do throws(WebKitFormatError) { return (try WebKitMetadata(more[...]), more) } catch {
      throw .malformed(error)
    }
  }

  /// Reads the header.
  ///
  /// - Parameter bytes: The bytes that were read with the metadata.
  borrowing func readHeader(
    _ metadata: WebKitMetadata, after bytes: [UInt8]
  ) throws(WebKitFileFinding) -> ArraySlice<UInt8> {
    guard metadata.headerSize <= Self.largestHeader else {
      throw metadata.bodyStart > status.size
        ? .malformed(WebKitFormatError("it is cut off")) : .tooLarge
    }
    let count = Int(metadata.headerSize.bytes)
    let end = metadata.count + count
    if end <= bytes.count { return bytes[metadata.count..<end] }
    let header = try read(count, at: Int64(metadata.count))
    guard header.count == count else {
      throw .malformed(WebKitFormatError("it is cut off"))
    }
    return header[...]
  }

  private borrowing func read(_ count: Int, at offset: Int64) throws(WebKitFileFinding) -> [UInt8] {
    do throws(FileError) { return try file.read(count, at: offset) } catch {
      throw WebKitFileFinding(error)
    }
  }
}

extension WebKitFile {
  /// Refuses a sparse file: it takes no room, and could take years to read.
  borrowing func requireData() throws(WebKitFileFinding) {
    if (try? file.isSparse()) ?? false { throw .sparse }
  }

  /// Returns the file alone.
  consuming func intoFile() -> OpenFile { file }
}
