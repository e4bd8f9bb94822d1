public import Bytes
import Files
import PropertyLists

extension StoreDescription.Format {
  /// A folder of keyed archives, as swift-corelibs-foundation writes them.
  public static let foundation = Self(rawValue: "foundation")
}

/// The store that swift-corelibs-foundation keeps on Linux: a folder of keyed archives, one for each
/// stored response.
///
/// There is no index and no lock. A file is written under a temporary name and then renamed, so each file is
/// complete; a file that disappears during reading was removed by the app.
public final class FoundationStore: StoreKind {
  let files: FoundationFiles
  /// The files that Foundation would try to read: the entries.
  let names: [FoundationFileName]
  /// The files that Foundation ignores although they can only come from such a store: the orphans.
  let ignored: [FoundationFileName]
  /// The newest file of each key, which is the only one that counts.
  let newest: [[UInt8]: FoundationFileName]
  let repeatedKeys: Set<[UInt8]>
  private let now: Timestamp

  public let description: StoreDescription

  /// Opens the store at `path` for reading.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - now: The current time; a response with a later time was stored in the future.
  /// - Throws: ``StoreError``.
  public init(readingFrom path: String, now: Timestamp) throws {
    files = try FoundationFiles(at: path)
    let all = try files.names()
    names = all.filter(\.isSeen)
    ignored = all.filter { !$0.isSeen }
    repeatedKeys = Self.repeatedKeys(of: names)
    newest = FoundationFileName.newest(of: names)
    self.now = now
    description = StoreDescription(
      path: path, format: .foundation, schemaVersion: nil, identity: try files.identity(),
      rawPropertyLists: [Self.archiveName])
  }

  convenience init(_ opening: StoreOpening) throws {
    try self.init(readingFrom: opening.path, now: opening.now)
  }

  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    try FoundationStoreEditor(changing: opening.path, intents: opening.intents)
  }

  static func intentPlace(at path: String) -> Intent.Place? {
    Intent.Place(.foundation, path + "/.")
  }

  static let format = StoreDescription.Format.foundation

  static let traits = StoreTraits(
    words: "Foundation cache", unstored: [.method, .fields, .partition],
    shownKey: { FoundationKey(of: $0)?.shown })

  static let mark = "a file '*.storedcachedurlresponse'"

  /// Whether a folder has a file of the store, or is where Foundation keeps its stores, which may be empty.
  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool {
    guard isFolder else { return false }
    let parts = (Directory.resolvedPath(path) ?? path).utf8.split(separator: UInt8(ascii: "/"))
    // `URLSession` creates an empty folder there as soon as a program uses it, so most of these
    // stores are empty.
    if parts.dropLast().last.map({ $0.elementsEqual(FoundationFolder.parentName.utf8) }) ?? false {
      return true
    }
    do {
      let names = try FoundationFiles(at: path).names()
      // Foundation uses such temporary names for every atomic write, so they alone prove nothing.
      return names.contains { $0.kind != .temporary }
    } catch {
      throw error as? StoreError ?? StoreError(.inputOutput, at: path)
    }
  }

  static func place(at path: String) -> (folder: String, database: String?)? {
    (try? StoreOpening.isFolder(path)) == true ? (path, nil) : nil
  }

  static func forEachFile(
    _ opening: StoreOpening, _ body: (StoreFile, borrowing OpenFile) throws -> Void
  ) throws {
    let folder = try Directory(opening.path + "/.")
    for name in try StoreOpening.names(in: folder) {
      guard let parsed = FoundationFileName(name) else { continue }
      try StoreOpening.open(name, in: folder) {
        try body(StoreFile(name: ByteString(name), isOfEntry: parsed.isSeen), $0)
      }
    }
  }

  /// Returns the program of `…/org.swift.foundation.URLCache/PROGRAM`.
  static func application(ofStoreAt path: String) -> String? {
    var names = path.utf8.split(separator: UInt8(ascii: "/"))
    guard let app = names.popLast(), let parent = names.popLast(),
      parent.elementsEqual(FoundationFolder.parentName.utf8)
    else { return nil }
    return String(decoding: Array(app), as: UTF8.self)
  }

  private static let archiveName = "archive"

  /// The largest archive that is read into memory as a whole.
  // Only a user who asks for the raw archive of one entry reads it whole.
  private static let largestArchive = ByteCount(256 << 20)

  /// Returns the keys that several files have.
  private static func repeatedKeys(of names: [FoundationFileName]) -> Set<[UInt8]> {
    var seen: Set<[UInt8]> = []
    var repeated: Set<[UInt8]> = []
    for name in names {
      guard case .response(_, let key) = name.kind else { continue }
      if !seen.insert(key).inserted { repeated.insert(key) }
    }
    return repeated
  }

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for name in names {
      WorkCounter.add()
      guard let response = read(name, projection) else { continue }
      if try body(response) == .stop { return }
    }
  }

  public func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?
  {
    guard case .file(let id) = id, let name = FoundationFileName(of: id) else { return nil }
    // `read` does not open the file for every projection, so check that it exists.
    // A user may give the id of an entry that an app has removed since it was listed.
    guard (try? files.status(of: name)) != nil else { return nil }
    return read(name, projection)
  }

  /// Reads the parts of a file in `projection`; `nil` if it does not exist any more.
  func read(_ name: FoundationFileName, _ projection: Projection) -> StoredResponse? {
    var response = StoredResponse(id: .file(name.id))
    guard read(name, projection, into: &response) else { return nil }
    response.finishDecoding(projection)
    return response
  }

  /// Reads the parts of a file in `projection`.
  ///
  /// - Returns: `false` if the file does not exist any more.
  private func read(
    _ name: FoundationFileName, _ projection: Projection, into response: inout StoredResponse
  ) -> Bool {
    readName(name, projection, into: &response)
    if !projection.isDisjoint(with: [.file, .share]) {
      do throws(FileError) {
        guard let status = try files.status(of: name) else { return false }
        if projection.contains(.file) { response.file = FileVersion(status) }
        if projection.contains(.share) { response.share = EntryShare(file: status.size) }
      } catch {
        // Without a version, the file is not removed.
      }
    }
    guard !projection.isDisjoint(with: .ofArchive) else { return true }
    do throws(FoundationFileFinding) {
      let file = try files.open(name)
      // Use the version of the open file: the name may have belonged to another file a moment ago.
      if projection.contains(.file) { response.file = file.version }
      do {
        try file.withArchive { archive in response.decodeArchive(archive, projection) }
      } catch let error as FileError {
        throw FoundationFileFinding(error)
      } catch {
        response.notes.append(.init(.undecodable, "its archive cannot be decoded: \(error)"))
      }
    } catch {
      if error == .gone { return false }
      response.notes.append(error.note)
    }
    return true
  }

  /// Reads what the name of a file contains.
  private func readName(
    _ name: FoundationFileName, _ projection: Projection, into response: inout StoredResponse
  ) {
    guard case .response(let seconds, let base64) = name.kind else { return }
    let stored = Timestamp(secondsSince2001: Double(seconds))
    // Foundation uses only the seconds in the name for removal and for finding duplicates, never
    // the times of the file.
    if projection.contains(.stored) { response.stored = stored }
    if projection.contains(.key) { response.key = FoundationKey(base64: base64)?.text }
    guard projection.contains(.notes) else { return }
    if stored == nil {
      response.notes.append(.init(.badTime, "the time in its file name is invalid"))
    }
    // A response with later seconds wins over every new one: Foundation writes the new file and
    // removes it at once.
    if stored.map({ $0 > now }) ?? (seconds > 0) {
      response.notes.append(
        .init(
          .futureDated,
          "its file name has a future date, so URLCache keeps it and removes any newer response with its key"
        ))
    }
    if repeatedKeys.contains(base64) {
      response.notes.append(
        .init(.duplicateKey, "another file has the same key, so URLCache may use either"))
    }
    if FoundationKey(base64: base64) == nil {
      response.notes.append(
        .init(.badFileName, "its file name has no key, so URLCache cannot find it"))
    }
  }

  public func count() throws -> Int64 { Int64(names.count) }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    let (name, path) = try file(of: id)
    var reader: BodyReader
    do {
      reader = try files.open(name).bodyReader()
    } catch {
      throw Self.translated(error, path)
    }
    try read(&reader)
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? {
    guard name == Self.archiveName else { return nil }
    let (name, path) = try file(of: id)
    do {
      if let bytes = try files.open(name).bytes(upTo: Self.largestArchive) { return bytes }
    } catch {
      throw Self.translated(error, path)
    }
    throw StoreError(.noSuchResponse, at: path, because: "its archive is larger than 256 MiB")
  }

  /// Returns the name and path of the file of a response.
  private func file(of id: StoredResponse.ID) throws(StoreError) -> (FoundationFileName, String) {
    guard case .file(let id) = id, let name = FoundationFileName(of: id) else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    return (name, "\(files.path)/\(String(decoding: name.bytes, as: UTF8.self))")
  }

  /// Returns the reason why a file cannot be read as an error of the store.
  private static func translated(_ error: any Error, _ path: String) -> any Error {
    switch error {
    case let finding as FoundationFileFinding: finding.error(at: path)
    case let error as FileError: StoreError(error, path: path)
    case let error as PropertyListError:
      StoreError(.damaged, at: path, because: "its archive has no body: \(error)")
    default: error
    }
  }

  public func footprint() throws -> Footprint {
    var footprint = Footprint()
    for name in names {
      guard let status = try? files.status(of: name) else { continue }
      footprint.allocatedBytes += status.allocatedSize
      // Like `URLCache`, count anything with such a name, even a folder.
      footprint.bodyFilesBytes += status.size
    }
    for name in ignored {
      guard let status = try? files.status(of: name) else { continue }
      footprint.allocatedBytes += status.allocatedSize
      footprint.orphanFiles += 1
      footprint.orphanBytes += status.size
    }
    return footprint
  }

  /// Does nothing: each file is consistent, but there is no common state of all files.
  public func finish() throws {}
}

extension Projection {
  /// The parts that require the archive of a response.
  fileprivate static let ofArchive: Self = [
    .url, .status, .mimeType, .ofResponseHeaders, .storage, .body, .userInfo, .notes,
  ]
}

extension Finding.Code {
  static let schemeNotInKey = Self(
    "scheme-not-in-key", .note,
    "a response received over HTTPS is also used for HTTP, and vice versa")
  static let collidingEntries = Self(
    "colliding-entries", .warning,
    "the app may get either entry for both URLs, even another user's")
}

extension Finding.Code {
  private static let lost = "it wastes disk space, and nothing else ever removes it"
  static let temporaryFile = Self("temporary-file", .warning, lost, repair: .orphans)
  static let ignoredFile = Self("ignored-file", .warning, lost, repair: .orphans)
  static let youngTemporaryFile = Self(
    "young-temporary-file", .note, "an app may be about to store its entry, so it is kept")
}

extension FoundationStore {
  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    for name in ignored {
      if let finding = finding(on: name, now) { try body(finding) }
    }
    // Damage to a file is a note on its response.
    guard try count() > 0 else { return }
    try body(Finding(.schemeNotInKey, "URLCache looks up responses without the scheme"))
    try forEachCollision(body)
  }

  /// Returns the finding on a file that Foundation ignores; `nil` if it does not exist any more.
  func finding(on name: FoundationFileName, _ now: Timestamp) -> Finding? {
    guard let status = try? files.status(of: name) else { return nil }
    let path = ByteString(Array("\(files.path)/".utf8) + name.bytes)
    let isTemporary = name.kind == .temporary
    let code = isTemporary ? Finding.Code.temporaryFile : .ignoredFile
    var message =
      isTemporary
      ? "it was not written completely; URLCache neither counts nor removes it"
      : "URLCache does not recognize its name, and neither counts nor removes it"
    // Only regular files are ever removed, and a plan names them in text.
    guard let version = FileVersion(status),
      let text = String(validating: name.bytes, as: UTF8.self)
    else {
      if status.kind != .regular { message = "it is \(status.kind.rawValue), so it is kept" }
      return Finding(code, message, path: path)
    }
    // Foundation writes an entry to `.dat.nosync…` and renames it at the end. A process that is
    // killed leaves the file behind, and Foundation never removes it, but a young one may still
    // become an entry.
    if version.isYoung(at: now) {
      return Finding(
        isTemporary ? .youngTemporaryFile : code,
        isTemporary ? message : message + "; it is kept because it is less than ten minutes old",
        path: path)
    }
    return Finding(
      code, message, path: path,
      orphan: OrphanFile(name: text, size: version.size, modified: version.modified))
  }

  /// Reports files with the same key but different URLs, each with the first file of its key.
  private func forEachCollision(_ body: (Finding) throws -> Void) throws {
    var firsts: [[UInt8]: (name: FoundationFileName, url: ByteString)] = [:]
    for name in names {
      // Only files that share a key are opened, so the check of a healthy store reads no file for
      // this.
      guard case .response(_, let key) = name.kind, repeatedKeys.contains(key),
        let url = read(name, .url)?.url
      else { continue }
      guard let first = firsts[key] else {
        firsts[key] = (name, url)
        continue
      }
      if first.url == url { continue }
      let other = String(decoding: first.name.id.bytes, as: UTF8.self)
      try body(
        Finding(
          .collidingEntries,
          "it has the same key as the entry '\(other)', which is for a different URL",
          id: .file(name.id), url: url))
    }
  }
}

extension FoundationStore {
  // `/.`, as the path may be a link to the folder.
  static func observedFolders(at path: String) -> [String] { [path + "/."] }

  static func mark(at path: String, isObserved: Bool) throws(StoreError) -> StoreMark {
    do throws(FileError) {
      let status = try FileStatus.of(path + "/.")
      return StoreMark(of: status, header: [], counter: nil)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  static func isEntry(_ name: [UInt8]) -> Bool { FoundationFileName(name)?.isSeen ?? false }
}
