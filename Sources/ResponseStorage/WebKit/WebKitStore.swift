public import Bytes
import Files

extension StoreDescription.Format {
  /// A folder `Version N` of records, as WebKit writes them.
  public static let webkit = Self(rawValue: "webkit")
}

/// The cache of WebKit's network process: of web views on Apple systems, and of WebKitGTK and WPE.
///
/// There is no index and no lock, and no file is written under another name first. Whatever is read of a record is
/// verified by its checksums, so one that is just being written shows as damaged.
public final class WebKitStore: StoreKind {
  let files: WebKitFiles
  let reader: WebKitReader

  public let description: StoreDescription

  /// Opens the cache at `path` for reading.
  ///
  /// - Parameters:
  ///   - path: The folder of `Version N`, or that folder itself.
  ///   - now: The current time; WebKit does not use a response with a later time.
  /// - Throws: ``StoreError``.
  public init(readingFrom path: String, now: Timestamp) throws {
    files = try WebKitFiles(at: path)
    reader = WebKitReader(files: files, now: now)
    var notes: [String] = []
    if !Self.knownVersions.contains(files.version) {
      notes.append("version \(files.version) is not supported; supported versions are 16 to 18")
    }
    if files.salt == nil {
      notes.append("its file 'salt' is missing, so WebKit will not find its entries again")
    }
    description = StoreDescription(
      path: path, format: .webkit, schemaVersion: Int64(files.version), identity: files.identity,
      notes: notes)
  }

  convenience init(_ opening: StoreOpening) throws {
    try self.init(readingFrom: opening.path, now: opening.now)
  }

  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    try WebKitStoreEditor(changing: opening.path, intents: opening.intents)
  }

  static func intentPlace(at path: String) -> Intent.Place? {
    WebKitFiles.place(at: path).flatMap { Intent.Place(.webkit, $0.root) }
  }

  /// The versions whose layout is known.
  static let knownVersions = UInt32(16)...18

  static let format = StoreDescription.Format.webkit

  static let traits = StoreTraits(
    words: "WebKit cache", countsOrphans: true, sharesBodies: true, hasLists: true, recordsUse: true
  )

  static let mark = "a folder 'Version N' with 'Records'"

  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool {
    isFolder && WebKitFiles.place(at: path) != nil
  }

  static func place(at path: String) -> (folder: String, database: String?)? {
    WebKitFiles.place(at: path).map { ($0.root, nil) }
  }

  static func removedEntries(
    _ opening: StoreOpening, _ options: RemovedEntriesOptions
  ) throws -> any RemovedEntries {
    guard !options.isDamaged else {
      throw StoreError(
        .unsupported, at: opening.path, because: "it is a WebKit cache, which has no database")
    }
    return try WebKitRemains(opening)
  }

  static func listing(at path: String) -> (path: String, size: ByteCount)? {
    guard let file = WebKitFiles.place(at: path).map({ "\($0.root)/\(WebKitFiles.listing)" }),
      let status = try? FileStatus.of(file), status.kind == .regular
    else { return nil }
    return (file, status.size)
  }

  static func forEachFile(
    _ opening: StoreOpening, _ body: (StoreFile, borrowing OpenFile) throws -> Void
  ) throws {
    let store = try WebKitStore(opening)
    let files = store.files
    for name in files.names {
      for isBlob in name.hasBlob ? [false, true] : [false] {
        let file: WebKitFile
        do throws(WebKitFileFinding) { file = try files.file(name, isBlob: isBlob) } catch {
          continue
        }
        let path = files.path(of: name).utf8.dropFirst(files.root.utf8.count + 1)
        let shown = Array(path) + (isBlob ? Array("-blob".utf8) : [])
        try body(StoreFile(name: ByteString(shown), isOfEntry: true), file.file)
      }
    }
    // What no record refers to can still have what was removed.
    for other in try store.others() where other.status.kind == .regular {
      guard let file = try? OpenFile(reading: other.path) else { continue }
      let shown = other.path.utf8.dropFirst(files.root.utf8.count + 1)
      try body(StoreFile(name: ByteString(Array(shown)), isOfEntry: false), file)
    }
  }

  /// Returns the program of `…/PROGRAM/WebKitCache`, or the container of `…/Library/Caches/WebKit/NetworkCache`.
  static func application(ofStoreAt path: String) -> String? {
    let names = path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
    func name(_ place: Int) -> [UInt8]? {
      names.count > place ? names[names.count - 1 - place] : nil
    }
    if name(0)?.elementsEqual("WebKitCache".utf8) ?? false {
      return name(1).map { String(decoding: $0, as: UTF8.self) }
    }
    guard name(0)?.elementsEqual("NetworkCache".utf8) ?? false,
      name(1)?.elementsEqual("WebKit".utf8) ?? false,
      let folder = name(2), !folder.elementsEqual("Caches".utf8)
    else { return nil }
    return String(decoding: folder, as: UTF8.self)
  }

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try scan(ScanRequest(projection, in: .ascending), into: ResponseBatch()) {
      try $0.removeAll(passingTo: body)
    }
  }

  public func scanFirst(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for name in files.names {
      WorkCounter.add()
      guard let response = reader.read(name, projection) else { continue }
      if try body(response) == .stop { return }
    }
  }

  public func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep
  ) throws {
    let (reader, names) = (reader, files.names)
    let projection = request.projection.union(request.choosing ?? [])
    let threads = OrderedParallelMap<Int, Tally, Tally>("WebKitStore") {
      { numbers, send in
        var part = tally
        for number in numbers {
          WorkCounter.add()
          guard let response = reader.read(names[number], projection) else { continue }
          if part.choose(response) { part.insert(response) }
          if part.isFull {
            try send(part, Self.recordBytes * numbers.count)
            part = tally
          }
        }
        return part
      }
    }
    var step = ScanStep.next
    func passOn(all: Bool) throws {
      try threads.forEachResult(all: all) { result in
        if step == .stop { return }
        var part =
          switch result {
          case .part(let part), .summary(let part): part
          }
        step = try body(&part)
      }
    }
    for number in names.indices {
      threads.add(number, byteCount: ByteCount(Self.recordBytes))
      try passOn(all: false)
      if step == .stop { return }
    }
    try passOn(all: true)
  }

  /// About how many bytes a decoded record takes.
  private static let recordBytes = 2_048

  public func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?
  {
    guard case .file(let id) = id, let name = files.name(of: id),
      (try? files.status(of: name)) != nil
    else { return nil }
    return reader.read(name, projection)
  }

  public func count() throws -> Int64 { Int64(files.names.count) }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard case .file(let id) = id, let name = files.name(of: id) else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    var reader: BodyReader
    do throws(WebKitFileFinding) { reader = try bodyReader(of: name) } catch {
      throw StoreError(.noSuchResponse, at: files.path(of: name), because: error.note.message)
    }
    try read(&reader)
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? { nil }

  /// Does nothing: each record is verified by itself, and there is no common state of all of them.
  public func finish() throws {}

  /// Returns a reader of the body of a record.
  func bodyReader(of name: WebKitFiles.Name) throws(WebKitFileFinding) -> BodyReader {
    let record = try files.file(name)
    let (metadata, _) = try record.readMetadata()
    guard metadata.isBodyInline else {
      let blob = try files.file(name, isBlob: true)
      let size = blob.status.size
      guard size == metadata.bodySize else {
        throw .malformed(WebKitFormatError("the file of its body has another length"))
      }
      try blob.requireData()
      return BodyReader(blob.intoFile(), size: size)
    }
    let (start, size) = (metadata.bodyStart, record.status.size)
    guard start + metadata.bodySize == size else {
      let isLonger = start + metadata.bodySize < size
      throw .malformed(WebKitFormatError(isLonger ? "it is too long" : "it is cut off"))
    }
    try record.requireData()
    return BodyReader(record.intoFile(), range: start.bytes..<size.bytes)
  }
}
