public import Bytes
import Files
import PropertyLists

extension FoundationStore {
  /// The largest body that is read into memory as a whole.
  private static let largestWholeBody = ByteCount(1 << 16)

  /// The layout of the raw responses, which the store itself does not have.
  public var rawLayout: RawLayout {
    var layout = RawLayout.ofNewResponses
    layout.format = .foundation
    return layout
  }

  /// Calls `body` with each chosen response; its number is its position among the files of the store.
  ///
  /// A response that cannot be decoded, or whose key a newer file also has, has a ``RawResponse/finding``.
  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    for (index, name) in names.enumerated() {
      WorkCounter.add()
      guard let response = read(name, projection), try isWanted(response),
        let raw = try raw(name, number: Int64(index) + 1)
      else { continue }
      if try body(raw) == .stop { return }
    }
  }

  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    try FoundationEntry.admit(response)
  }

  public func standingResponse(forKey key: ByteString) throws -> StandingResponse? {
    guard let name = newest[Base64.encode(key.bytes)] else { return nil }
    return try standingResponse(name, key)
  }

  /// Returns `nil`, as every file name contains a key.
  public func standingResponse(withoutKey number: Int64) -> StandingResponse? { nil }

  private func standingResponse(
    _ name: FoundationFileName, _ key: ByteString
  ) throws -> StandingResponse? {
    guard let raw = try raw(name, number: 0), let version = files.version(of: name) else {
      return nil
    }
    var standing = StandingResponse(
      raw: raw, version: ResponseVersion(id: .file(name.id), key: key, stored: nil, file: version))
    standing.hasOlder = repeatedKeys.contains(Base64.encode(key.bytes))
    return standing
  }

  /// Reads a response; `nil` if its file does not exist any more.
  private func raw(_ name: FoundationFileName, number: Int64) throws -> RawResponse? {
    guard case .response(_, let key) = name.kind else {
      return unreadable(number, "URLCache does not recognize its file as a response")
    }
    // A lookup takes the first of two files in the order of the folder, and the next store removes
    // all but the newest. So only the newest is sure to be the entry.
    guard newest[key] == name else { return unreadable(number, "a newer file has the same key") }
    do {
      let file = try files.open(name)
      let version = file.version
      let found = try file.withArchive { archive in
        (NewResponse(archive, in: name), FoundationEntry.bodySize(in: archive))
      }
      guard var response = found.0 else {
        return unreadable(number, "its archive has no HTTP response that can be decoded")
      }
      guard let size = found.1 else { return unreadable(number, "its archive has no body") }
      response.body = try body(of: name, version, size: size)
      var raw = response.raw(id: number)
      raw.synthesizedFields = [
        "the request: a Foundation cache stores only its host, port and path"
      ]
      return raw
    } catch FoundationFileFinding.gone {
      return nil
    } catch let finding as FoundationFileFinding {
      return unreadable(number, finding.note.message)
    } catch let error as PropertyListError {
      return unreadable(number, "its archive cannot be decoded: \(error)")
    }
  }

  private func unreadable(_ number: Int64, _ finding: String) -> RawResponse {
    var raw = RawResponse(id: number)
    raw.finding = finding
    return raw
  }

  /// Returns the body of a response; a larger one is read on demand.
  private func body(
    of name: FoundationFileName, _ version: FileVersion, size: ByteCount
  ) throws -> Body {
    let isWhole = size <= Self.largestWholeBody
    let body = Body(size: size, isSparse: isWhole ? false : try files.open(name).isSparse) {
      [self] in
      let file = try files.open(name)
      // The size was announced by the first reading, and another file may have the name by now.
      guard file.version == version else {
        throw StoreError(.changedWhileReading, at: files.path)
      }
      return try file.bodyReader()
    }
    return isWhole ? Body(try body.readAll()) : body
  }
}

extension FoundationEntry {
  /// Returns what a Foundation store keeps of a response.
  static func admit(_ raw: RawResponse) throws -> AdmittedResponse {
    if raw.isPartOfResponse { throw AdmissionRefusal.part }
    guard raw.part(.body)?.content != nil else {
      throw AdmissionRefusal("its body is missing")
    }
    let entry = try FoundationEntry(of: raw)
    guard let kept = entry.kept(of: raw) else {
      throw AdmissionRefusal("its property lists cannot be decoded")
    }
    return AdmittedResponse(
      key: entry.key.text, kept: kept, losses: ResponseLoss.losses(from: raw, to: kept))
  }

  /// Returns the size of the body; `nil` if there is none.
  static func bodySize(in archive: borrowing KeyedArchive) -> ByteCount? {
    guard let data = try? archive.member("data", of: archive.root) else { return nil }
    return (try? archive.dataCount(data)).map { ByteCount($0) }
  }
}

extension RawLayout {
  /// The layout of an Apple store with the newest schema.
  public static var ofNewResponses: RawLayout {
    RawLayout(
      userVersion: AppleSchema.version203.rawValue, versionInTable: nil, encoding: "UTF-8",
      tables: [
        .init(
          AppleLayout.blobs,
          columns: ["entry_ID"]
            + RawResponse.Part.Name.allCases.filter { $0 != .body }.map(\.rawValue)),
        .init(AppleLayout.bodies, columns: ["entry_ID", "isDataOnFS", "receiver_data"]),
        .init(AppleLayout.responses, columns: ["entry_ID"] + AppleSchema.rawResponseColumns),
      ])
  }
}
