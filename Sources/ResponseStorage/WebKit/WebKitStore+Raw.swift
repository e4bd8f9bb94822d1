import Bytes
import Files

extension WebKitStore {
  /// The longest body that is read into memory as a whole.
  private static let largestWholeBody = ByteCount(1 << 16)

  /// The layout of the raw responses, which the store itself does not have.
  public var rawLayout: RawLayout {
    var layout = RawLayout.ofNewResponses
    layout.format = .webkit
    return layout
  }

  /// Calls `body` with each chosen response as CFNetwork would store it; its number is its position in the cache.
  ///
  /// A response that cannot be decoded has a ``RawResponse/finding``. Other records are left out.
  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    for (index, name) in files.names.enumerated() {
      WorkCounter.add()
      guard files.folders[name.folder].hasResponses, let response = reader.read(name, projection),
        try isWanted(response),
        let raw = try raw(name, number: Int64(index) + 1)
      else { continue }
      if try body(raw) == .stop { return }
    }
  }

  func raw(_ name: WebKitFiles.Name, number: Int64) throws -> RawResponse? {
    do {
      let record = try files.file(name)
      let (metadata, bytes) = try record.readMetadata()
      let header = try record.readHeader(metadata, after: bytes)
      let response: WebKitResponse
      do throws(WebKitFormatError) {
        response = try WebKitResponse(header, version: metadata.version)
      } catch {
        throw WebKitFileFinding.malformed(error)
      }
      guard let url = metadata.key.identifier, let stored = metadata.stored else {
        return unreadable(number, "it has no URL, or no valid time")
      }
      let body: Body?
      do { body = try self.body(of: name, metadata) } catch WebKitFileFinding.notRegular(let kind) {
        return unreadable(number, "its body is \(kind.rawValue)")
      }
      var new = NewResponse(
        url: url, requestHeaders: response.requestFields(metadata) ?? HeaderFields(),
        status: response.status, headers: response.fields, stored: stored,
        body: body)
      new.mimeType = response.mimeType.flatMap { $0.bytes.isEmpty ? nil : $0 }
      if let partition = metadata.key.partition, !partition.bytes.isEmpty {
        new.partition = partition
      }
      var raw = new.raw(id: number)
      // Each range is an entry of its own; a URL has no blank.
      if let range = metadata.key.range,
        let place = raw.columns.firstIndex(where: { $0.name == "request_key" }),
        case .text(let key) = raw.columns[place].value
      {
        raw.columns[place].value = .text(ByteString(key.bytes + [0x20] + range.bytes))
      }
      raw.columns.append(
        .init(RawResponse.webKitHead, .blob(Array(bytes[..<metadata.count]) + header)))
      raw.synthesizedFields = [
        "the request: a WebKit cache stores only the request fields that 'Vary' names"
      ]
      return raw
    } catch WebKitFileFinding.gone {
      return nil
    } catch let finding as WebKitFileFinding {
      return unreadable(number, finding.note.message)
    }
  }

  private func unreadable(_ number: Int64, _ finding: String) -> RawResponse {
    var raw = RawResponse(id: number)
    raw.finding = finding
    return raw
  }

  /// Returns the body of a record, or `nil` if its file is gone; a long one is read on demand.
  private func body(of name: WebKitFiles.Name, _ metadata: WebKitMetadata) throws -> Body? {
    if !metadata.isBodyInline, !name.hasBlob { return nil }
    let reader = try bodyReader(of: name)
    let body = Body(size: reader.size, isSparse: try reader.isSparse) { [self] in
      let reader = try bodyReader(of: name)
      return reader
    }
    return body.size <= Self.largestWholeBody ? Body(try body.readAll()) : body
  }

  // WebKit writes a new response into the file of the old one, which does not change the folder.
  static func observedFolders(at path: String) -> [String] {
    guard let root = WebKitFiles.place(at: path)?.root else { return [] }
    return [root + "/Records"] + ((try? folders(in: root)) ?? [])
  }

  /// Returns the state of the folders of records, which every new or removed one changes; and of all records, if nobody
  /// reports that one is changed.
  static func mark(at path: String, isObserved: Bool) throws(StoreError) -> StoreMark {
    guard let root = WebKitFiles.place(at: path)?.root else {
      throw StoreError(.notFound, at: path)
    }
    do throws(FileError) {
      let status = try FileStatus.of(root)
      var others: [FileStatus?] = []
      for path in try folders(in: root) {
        guard let folder = try? Directory(path) else { continue }
        others.append(try? folder.status())
        if isObserved { continue }
        try? folder.forEachName { others.append(try? folder.status(of: $0)) }
      }
      return StoreMark(of: status, others, header: [], counter: nil)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Returns the folders of records, in the order of their names.
  private static func folders(in root: String) throws(FileError) -> [String] {
    let records = try Directory(root + "/Records")
    var folders: [String] = []
    try? records.forEachName { partition in
      let name = String(decoding: partition, as: UTF8.self)
      guard WebKitFiles.isHash(partition[...]), let folder = try? Directory(name, in: records)
      else {
        return
      }
      try folder.forEachName { type in
        folders.append("\(root)/Records/\(name)/\(String(decoding: type, as: UTF8.self))")
      }
    }
    return folders.sorted()
  }
}
