import Bytes
import Files
import PropertyLists
import SQLite

/// A scan of the responses of an Apple store, in the order of `entry_ID`.
///
/// The scan reads the three tables in parallel, each in the order of its rows, and merges them. A join
/// in SQL is slower, and would omit a response that lacks one of its rows.
struct AppleScan: ~Copyable {
  private var responses: AppleRows
  private var blobs: AppleRows
  private var bodies: AppleRows
  private let projection: Projection
  /// Whether to check the hashes of keys, if there are any.
  private let hasHashValue: Bool
  /// What the rows take of pages; `nil` if that is not requested.
  private let pageShares: ApplePageShares?
  /// The responses to scan; `nil` for all of a range.
  private var wanted: RowIDSelection?

  /// Prepares a scan, which ``begin(in:)`` starts.
  init(
    _ connection: borrowing Connection, _ layout: AppleLayout, _ projection: Projection
  ) throws(SQLiteError) {
    func column(_ name: String, for fields: Projection) -> AppleRows.Column? {
      projection.isDisjoint(with: fields) ? nil : .init(name)
    }
    func propertyList(_ name: String, for fields: Projection) -> AppleRows.Column? {
      projection.isDisjoint(with: fields) ? nil : .propertyList(name)
    }
    let responses = try AppleRows(
      [
        column("request_key", for: [.key, .url]), column("time_stamp", for: .firstStored),
        column("storage_policy", for: .storage),
        layout.hasPartition ? column("partition", for: .storage) : nil,
        layout.hasHashValue ? column("hash_value", for: [.consistency, .share]) : nil,
        projection.contains(.share) ? .length("request_key") : nil,
        projection.contains(.share) ? .length("time_stamp") : nil,
        projection.contains(.share) && layout.hasPartition ? .length("partition") : nil,
      ], of: AppleLayout.responses, connection)
    let blobs = try AppleRows(
      [
        propertyList("response_object", for: .ofResponseObject),
        propertyList("request_object", for: .ofRequestObject),
        propertyList("proto_props", for: .protocolProperties),
        propertyList("user_info", for: .userInfo),
        projection.contains(.share) ? .length("response_object") : nil,
        projection.contains(.share) ? .length("request_object") : nil,
        projection.contains(.share) ? .length("proto_props") : nil,
        projection.contains(.share) ? .length("user_info") : nil,
      ], of: AppleLayout.blobs, connection)
    let bodies = try AppleRows(
      [
        projection.contains(.body) ? .body(hasBodyFiles: layout.hasBodyFiles) : nil,
        projection.contains(.share) ? .length("receiver_data") : nil,
      ], of: layout.bodyTable, connection)
    let pageShares: ApplePageShares? =
      if projection.contains(.share) { try ApplePageShares(connection, layout) } else { nil }
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
    self.projection = projection
    self.pageShares = pageShares
    hasHashValue = projection.contains(.consistency) && layout.hasHashValue
  }

  /// Starts a scan of the responses with ids in `range`.
  mutating func begin(in range: ClosedRange<Int64>) throws {
    wanted = nil
    try moveToStart(of: range)
  }

  /// Starts a scan of some responses.
  ///
  /// - Parameter numbers: Their ids in ascending order; an id without a response is skipped.
  mutating func begin(at numbers: [Int64]) {
    wanted = RowIDSelection(numbers)
  }

  private mutating func moveToStart(of range: ClosedRange<Int64>) throws {
    try responses.begin(in: range)
    try blobs.begin(in: range)
    try bodies.begin(in: range)
  }

  /// The id of the next response; `Int64.max` at the end, too.
  // The merge is what makes rows without a counterpart visible. Removing from one table only is a
  // common mistake in scripts, and leaves rows that CFNetwork never finds and never removes.
  private var number: Int64 { min(responses.id, blobs.id, bodies.id) }

  private borrowing func isAt(_ number: Int64) -> Bool {
    responses.isAt(number) || blobs.isAt(number) || bodies.isAt(number)
  }

  /// Moves to the next requested response.
  ///
  /// - Returns: `false` if there is none.
  private mutating func moveToWanted() throws -> Bool {
    // A run of close ids is read row by row, as every new search starts at the root of three
    // b-trees.
    while let (next, run) = wanted?.next() {
      if let run { try moveToStart(of: run) }
      while number < next { try skip(number) }
      if isAt(next) { return true }
    }
    return false
  }

  /// Moves past a response.
  private mutating func skip(_ number: Int64) throws {
    if responses.isAt(number) { try responses.advance() }
    if blobs.isAt(number) { try blobs.advance() }
    if bodies.isAt(number) { try bodies.advance() }
  }

  /// Replaces `response` with the next response, whose strings use `memory`.
  ///
  /// - Returns: `false` at the end.
  /// - Throws: ``SQLiteError``, or ``DisorderedRows`` if a damaged table returns rows twice.
  mutating func next(
    into response: inout StoredResponse, reusing memory: inout StoredResponse.SpareMemory
  ) throws -> Bool {
    if wanted != nil, try !moveToWanted() { return false }
    let id = number
    guard isAt(id) else { return false }
    let hasResponse = responses.isAt(id)
    let share = share(of: id)
    // The memory of the strings is used again, which spares an allocation for each.
    response.reset(.row(id), reusing: &memory)
    if let share { response.share = EntryShare(pages: ByteCount(share)) }
    if hasResponse {
      readResponseRow(into: &response, reusing: &memory)
    } else {
      response.notes.append(
        .init(.noResponseRow, "its row in '\(AppleLayout.responses)' is missing"))
    }
    if blobs.isAt(id) {
      // Only the row of a body in the database shows its length.
      let isKnown = projection.contains(.body) && bodies.isAt(id) && bodies.type(at: 1) == .integer
      let bodyLength = isKnown ? bodies.integer(at: 1) : nil
      readBlobRow(into: &response, bodyLength, reusing: &memory)
      try blobs.advance()
    } else {
      response.notes.append(.init(.noBlobRow, "its row in '\(AppleLayout.blobs)' is missing"))
    }
    if bodies.isAt(id) {
      readBodyRow(into: &response)
      try bodies.advance()
    } else {
      response.bodyLocation = .missing
      response.notes.append(.init(.noBodyRow, "its row in '\(AppleLayout.bodies)' is missing"))
    }
    // The key comes last: it can have the body of a POST and a partition at its end, and so may be
    // no URL.
    if projection.contains(.url), response.url == nil {
      response.url = response.request.url
      if response.url == nil, hasResponse {
        response.url = text("request_key", responses, at: 1, &response)
      }
    }
    if hasResponse { try responses.advance() }
    response.finishDecoding(projection)
    return true
  }

  /// Returns what the rows of the current response take of pages, in bytes; `nil` if that is not requested.
  private borrowing func share(of id: Int64) -> Int64? {
    guard let pageShares else { return nil }
    func length(_ rows: borrowing AppleRows, _ column: Int32) -> Int64? {
      rows.type(at: column) == .null ? nil : rows.integer(at: column)
    }
    var lengths = ApplePageShares.Lengths()
    var share: Int64 = 0
    if bodies.isAt(id) {
      lengths.body = length(bodies, 2)
      share += pageShares.share(ofBody: id, lengths)
    }
    if blobs.isAt(id) {
      lengths.propertyLists = (
        length(blobs, 5), length(blobs, 6), length(blobs, 7), length(blobs, 8)
      )
      share += pageShares.share(ofPropertyLists: id, lengths)
    }
    if responses.isAt(id) {
      lengths.hashValue = responses.integer(at: 5)
      lengths.key = length(responses, 6)
      lengths.firstStored = length(responses, 7)
      lengths.partition = length(responses, 8)
      share += pageShares.share(ofResponse: id, lengths)
    }
    return share
  }

  private borrowing func readResponseRow(
    into response: inout StoredResponse, reusing memory: inout StoredResponse.SpareMemory
  ) {
    if projection.contains(.key) {
      response.key = text("request_key", responses, at: 1, &response, reusing: &memory.key)
    }
    if projection.contains(.firstStored) { readTime(into: &response) }
    if projection.contains(.storage) {
      if responses.type(at: 3) == .integer {
        // 0 was the only policy in all of 8,148 responses, as the others forbid storing on disk.
        // CFNetwork does read it back, so another value is shown and not corrected.
        response.storagePolicy = .init(stored: responses.integer(at: 3))
      } else if responses.type(at: 3) != .null {
        response.notes.append(.init(.wrongType, "storage_policy is not an integer"))
      }
      if responses.type(at: 4) != .null {
        response.partition = text("partition", responses, at: 4, &response)
      }
    }
    if hasHashValue, let key = response.key { checkHash(of: key, &response) }
  }

  private borrowing func readTime(into response: inout StoredResponse) {
    // The column has no type, so SQLite keeps whatever was written. CFNetwork leaves it to the
    // default, CURRENT_TIMESTAMP, which is a text in UTC.
    let type = responses.type(at: 2)
    if type == .text || type == .blob {
      response.firstStored = responses.withBytes(at: 2) { Timestamp(databaseText: $0) }
      if response.firstStored != nil { return }
    }
    // If it is not text, or not UTF-8, `text` adds a note of its own.
    if text("time_stamp", responses, at: 2, &response) != nil {
      response.notes.append(.init(.badTime, "time_stamp is not a date and time"))
    }
  }

  /// Adds a note if the hash is neither of the two values that CFNetwork writes for a key.
  private borrowing func checkHash(of key: ByteString, _ response: inout StoredResponse) {
    let hash = CacheKeyHash(of: key)
    let stored = responses.type(at: 5) == .integer ? responses.integer(at: 5) : nil
    // Both forms are right: an INSERT stores all 64 bits, and an UPDATE only the lower 32.
    guard stored != hash.whenInserted, stored != hash.whenUpdated else { return }
    response.notes.append(.init(.wrongHash, "hash_value is not the hash of its key"))
  }

  private borrowing func text(
    _ column: String, _ row: borrowing AppleRows, at index: Int32, _ response: inout StoredResponse
  ) -> ByteString? {
    var memory: [UInt8] = []
    return text(column, row, at: index, &response, reusing: &memory)
  }

  /// Returns the text of a column in `memory`, which is consumed.
  private borrowing func text(
    _ column: String, _ row: borrowing AppleRows, at index: Int32,
    _ response: inout StoredResponse, reusing memory: inout [UInt8]
  ) -> ByteString? {
    switch row.type(at: index) {
    case .text, .blob:
      row.withBytes(at: index) { memory.replaceAll(with: $0) }
      let text = ByteString(exchange(&memory, with: []))
      if projection.contains(.notes) { response.noteUnlessUTF8(text, column) }
      return text
    case .null, .integer, .real:
      response.notes.append(.init(.wrongType, "\(column) is not text"))
      return nil
    }
  }

  private borrowing func readBlobRow(
    into response: inout StoredResponse, _ bodyLength: Int64?,
    reusing memory: inout StoredResponse.SpareMemory
  ) {
    if !projection.isDisjoint(with: .ofResponseObject) {
      decode("response_object", at: 1, into: &response) {
        (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        try response.decodeResponseObject(
          bytes, projection, bodyLength: bodyLength, reusing: &memory)
      }
    }
    if !projection.isDisjoint(with: .ofRequestObject) {
      decode("request_object", at: 2, into: &response) {
        (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        try response.decodeRequestObject(bytes, projection, reusing: &memory)
      }
    }
    if projection.contains(.protocolProperties), blobs.type(at: 3) != .null {
      decode("proto_props", at: 3, into: &response) {
        (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        response.protocolProperties = try memory.properties.decode(bytes)
      }
    }
    if projection.contains(.userInfo), blobs.type(at: 4) != .null {
      decode("user_info", at: 4, into: &response) { (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        response.userInfo = try StoredResponse.decodeProperties(bytes)
      }
    }
  }

  private borrowing func decode(
    _ column: String, at index: Int32, into response: inout StoredResponse,
    _ body: (Span<UInt8>, inout StoredResponse) throws(PropertyListError) -> Void
  ) {
    guard !blobs.isTooLarge(at: index) else {
      // A value that is too large is no damage: a repair removes responses that cannot be decoded,
      // and must not remove this one.
      response.notes.append(.init(.tooLarge, "\(column) is too large to read"))
      return
    }
    guard blobs.type(at: index) != .null else {
      response.notes.append(.init(.undecodable, "\(column) is NULL, or text that is too large"))
      return
    }
    do throws(PropertyListError) {
      try blobs.withBytes(at: index) { bytes throws(PropertyListError) in
        try body(bytes, &response)
      }
    } catch {
      response.notes.append(.init(.undecodable, "\(column) cannot be decoded: \(error)"))
    }
  }

  private borrowing func readBodyRow(into response: inout StoredResponse) {
    guard projection.contains(.body) else { return }
    switch bodies.type(at: 1) {
    case .integer:
      response.bodyLocation = .inline
      response.bodySize = ByteCount(bodies.integer(at: 1))
    case .real:
      response.bodyLocation = .inline
    // A file name is a text in all real caches. One that is a BLOB counts, too: either must be a
    // UUID before it is used.
    case .text, .blob:
      response.bodyLocation = .file
      response.bodyFileName = text("receiver_data", bodies, at: 1, &response)
    case .null:
      response.bodyLocation = .missing
      response.notes.append(.init(.noBodyRow, "receiver_data is neither a BLOB nor text"))
    }
  }
}

/// The ids of the responses to find, grouped into runs that are read row by row.
struct RowIDSelection {
  /// The largest gap over which reading row by row is cheaper than a search for the next response.
  private static let shortestLeap: Int64 = 16

  private let numbers: [Int64]
  private var place = 0
  /// The end of the current run, as an index.
  private var endOfRun = 0

  /// Creates a list of ascending ids.
  init(_ numbers: [Int64]) {
    self.numbers = numbers
  }

  /// Returns the next id, with the range of its run if it is the first of one; `nil` after the last.
  mutating func next() -> (number: Int64, run: ClosedRange<Int64>?)? {
    guard place < numbers.count else { return nil }
    let number = numbers[place]
    var run: ClosedRange<Int64>?
    if place == endOfRun {
      run = number...moveToEndOfRun()
    }
    place += 1
    return (number, run)
  }

  /// Finds the end of the run that begins here, and returns its last id.
  private mutating func moveToEndOfRun() -> Int64 {
    var last = numbers[place]
    endOfRun = place + 1
    while endOfRun < numbers.count {
      // The ids come from a database, where one can be the smallest and the next the largest
      // number.
      let (gap, overflow) = numbers[endOfRun].subtractingReportingOverflow(last)
      guard !overflow, gap <= Self.shortestLeap else { break }
      last = numbers[endOfRun]
      endOfRun += 1
    }
    return last
  }
}
