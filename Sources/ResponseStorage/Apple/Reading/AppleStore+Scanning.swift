import Files
import SQLite

// Reading responses, on this thread or on several.
extension AppleStore {
  /// The parts of a response that need no decoding of property lists, so that reading them is cheap.
  private static let cheapProjection: Projection = [
    .key, .firstStored, .storage, .body, .file, .share,
  ]

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    // Reading ids and times is faster than passing them between threads.
    guard !projection.isSubset(of: .firstStored), databaseForThreads != nil else {
      return try walk(projection) { try body($0) }
    }
    // The limit of bytes bounds what the threads hold together if a cache has long property lists.
    let request = ScanRequest(projection, in: .ascending, byteLimit: 1 << 18)
    try scan(request, into: ResponseBatch()) { try $0.removeAll(passingTo: body) }
  }

  public func scanFirst(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws { try walk(projection) { try body($0) } }

  public func scan<Tally: ResponseTally>(
    _ request: ScanRequest, into tally: Tally, _ body: (inout Tally) throws -> ScanStep
  ) throws {
    var request = request
    // Otherwise each property list would be opened twice, once for choosing and once for the rest.
    if request.choosing?.isSubset(of: Self.cheapProjection) == true {
      request.choosing = request.choosing.map(completed)
      request.projection = completed(request.projection)
    } else {
      request.projection = completed(request.projection.union(request.choosing ?? []))
      request.choosing = nil
    }
    let sharing = try sharing(for: request.projection.union(request.choosing ?? []))
    try translatingErrors {
      if let database = databaseForThreads {
        // A search for damage takes about as long as the scan, and needs a processor of its own.
        let check = search?.check
        return try AppleParallelScan(
          of: database, layout, request, bodiesAt: files.bodies, sharing,
          threadCount: min(processorCount, 4), waitForProcessor: { check?.waitForEnd() },
          into: tally
        ).forEachTally(body)
      }
      var reader = try AppleTallyReader<Tally>(
        snapshot.connection, layout, request, bodiesAt: files.bodies, sharing)
      var share = AppleTallyReader<Tally>.Share(tally: tally)
      reader.start(.all)
      while reader.isReading {
        do {
          try reader.fill(&share, snapshot.connection)
        } catch {
          // The responses before the damage are not lost.
          if try body(&share.tally) == .stop { return }
          throw error
        }
        if try body(&share.tally) == .stop { return }
      }
    }
  }

  public func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?
  {
    var result: StoredResponse?
    try forEachResponse(of: [id], projection) { response in
      result = copy response
      return .stop
    }
    return result
  }

  public func forEachResponse(
    of ids: [StoredResponse.ID], _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    let numbers = ids.compactMap { if case .row(let number) = $0 { number } else { nil } }
    guard !numbers.isEmpty else { return }
    try walk(projection, { $0.begin(at: numbers) }) { try body($0) }
  }

  /// The path of the database if several threads can read it, and it is large enough for them.
  var databaseForThreads: String? { processorCount > 1 ? snapshot.databaseForThreads : nil }

  /// Returns everything that must be decoded for `projection`.
  func completed(_ projection: Projection) -> Projection {
    if projection.contains(.share) {
      return completed(projection.subtracting(.share)).union([.share, .body])
    }
    // Otherwise, the notes on a response would depend on which of its parts are requested.
    if projection.contains(.notes) { return projection.union(.examinedForNotes) }
    return projection.contains(.consistency) ? projection.union([.key, .body]) : projection
  }

  /// Returns the names of shared body files, which reading takes a look at each page of a table; none if shares are not requested.
  private func sharing(for projection: Projection) throws -> AppleBodyFiles.Sharing {
    guard projection.contains(.share) else { return .init() }
    return .init(byEntries: try namedBodyFiles().shared, byDatabases: neighbours)
  }

  /// Scans responses on this thread: all of them, unless `begin` chooses some.
  private func walk(
    _ projection: Projection,
    _ begin: (inout AppleScan) throws -> Void = { try $0.begin(in: .min ... .max) },
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    let projection = completed(projection)
    if projection.contains(.share) {
      bodies = AppleBodyFiles(at: files.bodies, sharing: try sharing(for: projection))
    }
    try translatingErrors {
      var scan = try AppleScan(snapshot.connection, layout, projection)
      var memory = StoredResponse.SpareMemory()
      var response = StoredResponse(id: .row(0))
      try begin(&scan)
      while try scan.next(into: &response, reusing: &memory) {
        if projection.contains(.body) {
          try bodies.examine(&response, in: layout.bodyTable, of: snapshot.connection)
        }
        WorkCounter.add()
        if try body(response) == .stop { return }
      }
    }
  }
}
