public import Bytes
import Files
import SQLite

extension AppleStore {
  /// The largest body file that is read into memory as a whole.
  // Few bodies are larger. Up to this size, a body is read once, and measured and copied from
  // memory; a larger one is read twice.
  private static let largestWholeFile = ByteCount(1 << 18)

  public var rawLayout: RawLayout {
    get throws {
      do throws(SQLiteError) {
        let tables = Set([AppleLayout.responses, AppleLayout.blobs, layout.bodyTable]).sorted()
        var version = try snapshot.connection.prepare("PRAGMA user_version")
        // The number in the database and not the one in the layout: an archive keeps where the
        // version was.
        let userVersion = try version.step() ? version.integer(at: 0) : 0
        var encoding = try snapshot.connection.prepare("PRAGMA encoding")
        _ = try encoding.step()
        var columns: [RawLayout.Table] = []
        for table in tables {
          columns.append(
            .init(table, columns: try AppleRawRows.columns(of: table, snapshot.connection)))
        }
        return RawLayout(
          userVersion: userVersion, versionInTable: userVersion == 0 ? layout.schemaVersion : nil,
          encoding: String(decoding: encoding.bytes(at: 0), as: UTF8.self), tables: columns)
      } catch {
        throw try translated(error)
      }
    }
  }

  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    do {
      // All tables are read in their order, so a page is soon no longer needed.
      try snapshot.connection.execute("PRAGMA cache_size = -512")
      var rows = try AppleRawRows(snapshot.connection, layout)
      try scan(projection) { response in
        guard try isWanted(response), case .row(let id) = response.id,
          let (raw, long, file) = try rows.response(id)
        else { return .next }
        return try body(filled(raw, long, file))
      }
    } catch let error as SQLiteError {
      throw try translated(error)
    }
  }

  public func admit(_ response: RawResponse) throws -> AdmittedResponse {
    try AppleSchema.admit(response)
  }

  public func standingResponse(forKey key: ByteString) throws -> StandingResponse? {
    let id: Int64
    let found: (RawResponse, long: [RawResponse.Part.Name], file: ByteString?)?
    do throws(SQLiteError) {
      var rows = try snapshot.connection.prepare(
        "SELECT entry_ID FROM \(AppleLayout.responses) WHERE request_key = ?1")
      try rows.bind(text: key.bytes, at: 1)
      guard try rows.step() else { return nil }
      id = rows.integer(at: 0)
      var raw = try AppleRawRows(snapshot.connection, layout)
      found = try raw.response(id)
    } catch {
      throw try translated(error)
    }
    guard let (raw, long, file) = found else { return nil }
    return try standingResponse(filled(raw, long, file), key)
  }

  public func standingResponse(withoutKey number: Int64) throws -> StandingResponse? {
    let found: (RawResponse, long: [RawResponse.Part.Name], file: ByteString?)?
    do throws(SQLiteError) {
      var rows = try AppleRawRows(snapshot.connection, layout)
      found = try rows.response(number)
    } catch {
      throw try translated(error)
    }
    guard let (raw, long, file) = found, raw.value(of: "request_key") ?? .null == .null else {
      return nil
    }
    return try standingResponse(filled(raw, long, file), nil)
  }

  private func standingResponse(_ raw: RawResponse, _ key: ByteString?) -> StandingResponse {
    let stored = StoredResponse(decoding: raw, .stored).stored
    return StandingResponse(
      raw: raw, version: ResponseVersion(id: .row(raw.id), key: key, stored: stored))
  }

  /// Adds the parts that are not in the row, or too long to be read with it.
  func filled(
    _ raw: consuming RawResponse, _ long: [RawResponse.Part.Name], _ file: ByteString?
  ) throws -> RawResponse {
    guard raw.hasBodyFile || !long.isEmpty else { return raw }
    for index in raw.parts.indices {
      let name = raw.parts[index].name
      if name == .body, raw.hasBodyFile {
        raw.parts[index].content = try body(inFile: file)
      } else if long.contains(name) {
        raw.parts[index].content = try content(of: name, of: raw.id)
      }
    }
    return raw
  }

  private func content(of name: RawResponse.Part.Name, of id: Int64) throws -> Body {
    let open = { [self] () throws -> BodyReader in
      do throws(SQLiteError) {
        return BodyReader(
          try snapshot.connection.blob(
            table: name == .body ? layout.bodyTable : AppleLayout.blobs,
            column: name == .body ? "receiver_data" : name.rawValue, row: id))
      } catch {
        throw try translated(error)
      }
    }
    return Body(size: try open().size, opening: open)
  }

  /// Returns the body in a body file, or `nil` if the file is missing or must not be read.
  private func body(inFile name: ByteString?) throws -> Body? {
    var reader: BodyReader
    do throws(StoreError) { reader = try bodies.open(name) } catch {
      // Only these two mean that there is no body. A folder that cannot be read must not look like
      // that, as a backup would leave its bodies out without an error.
      guard error.code == .noSuchResponse || error.code == .damaged else { throw error }
      return nil
    }
    if reader.size <= Self.largestWholeFile { return Body(try reader.readAll()) }
    // An archive has the length of a file before its bytes, and a sparse file can claim any length:
    // it would make a small cache fill the disk.
    return Body(size: reader.size, isSparse: try reader.isSparse) { [self] in
      try bodies.open(name)
    }
  }
}

extension AppleSchema {
  /// Returns what an Apple store keeps of a response, which is everything.
  ///
  /// A response that lacks a row in one of the tables, or a body, still lacks it afterwards.
  static func admit(_ response: RawResponse) throws -> AdmittedResponse {
    if response.isPartOfResponse { throw AdmissionRefusal.part }
    // The column is NOT NULL, so the insertion would fail in the middle of an import.
    if response.hasResponseRow, response.value(of: "time_stamp") ?? .null == .null {
      throw AdmissionRefusal("it has no time_stamp")
    }
    switch response.value(of: "request_key") ?? .null {
    case .text(let key): return AdmittedResponse(key: key, kept: response)
    case .null: return AdmittedResponse(key: nil, kept: response)
    case .integer, .real, .blob: throw AdmissionRefusal("its key is not text")
    }
  }
}
