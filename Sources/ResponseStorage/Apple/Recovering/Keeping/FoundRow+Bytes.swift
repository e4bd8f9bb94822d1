import Bytes
import SQLite
import SQLitePages

extension FoundRow: ScratchRow {
  /// What a row has.
  private struct Flags: OptionSet {
    let rawValue: Int64
    static let whole = Flags(rawValue: 1)
    static let live = Flags(rawValue: 2)
    static let id = Flags(rawValue: 4)
    static let header = Flags(rawValue: 8)
    static let text = Flags(rawValue: 16)
    static let bodySize = Flags(rawValue: 32)
    static let knownTime = Flags(rawValue: 64)
    static let present = Flags(rawValue: 128)
  }

  func pack(into values: inout PackedValues) {
    var flags: Flags = []
    if isWhole { flags.insert(.whole) }
    if isLive { flags.insert(.live) }
    if id != nil { flags.insert(.id) }
    if header != nil { flags.insert(.header) }
    if text != nil { flags.insert(.text) }
    if bodySize != nil { flags.insert(.bodySize) }
    // These two would take ten bytes each.
    if hasKnownTime { flags.insert(.knownTime) }
    if to == .max { flags.insert(.present) }
    values.append(flags.rawValue)
    values.append(shape)
    if let id { values.append(id) }
    if hasKnownTime { values.append(from) }
    if to != .max { values.append(to) }
    values.append(image.time)
    values.append(image.file.number)
    values.append(image.number)
    values.append(image.offset)
    values.append(Int64(page))
    values.append(kind.number)
    values.append(payload.size)
    values.append(payload.local.lowerBound)
    values.append(payload.local.count)
    values.append(Int64(payload.firstOverflowPage))
    if let header {
      values.append(header.length)
      values.append(header.values.count)
      for value in header.values { values.append(Int64(value.type.code)) }
    }
    if let text { values.append(text) }
    values.append(stored)
    if let bodySize { values.append(bodySize.bytes) }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    let flags = Flags(rawValue: try reader.number())
    let shape = try reader.number(Int.self)
    guard AppleRecordShapes.all.indices.contains(shape) else { throw PackedReader.Failure() }
    let id = flags.contains(.id) ? try reader.number() : nil
    let from = flags.contains(.knownTime) ? try reader.number() : Self.unknown
    let to = flags.contains(.present) ? Int64.max : try reader.number()
    let image = PageImages.Image(
      time: try reader.number(), file: try reader.element(of: RecoveredPlace.File.allCases),
      number: try reader.number(Int.self), offset: try reader.number())
    let page = try reader.number(UInt32.self)
    let kind = try reader.element(of: RecoveredPlace.Kind.allCases)
    let size = try reader.number(Int.self)
    let start = try reader.number(Int.self)
    let count = try reader.number(Int.self)
    guard start >= 0, count >= 0, count <= .max - start else { throw PackedReader.Failure() }
    let overflow = try reader.number(UInt32.self)
    self.init(
      shape: shape, id: id, from: from, to: to, image: image, page: page, kind: kind,
      payload: Payload(size: size, local: start..<start + count, firstOverflowPage: overflow))
    if flags.contains(.header) { header = try Self.header(from: &reader) }
    if flags.contains(.text) { text = try reader.text() }
    stored = try reader.real()
    if flags.contains(.bodySize) { bodySize = ByteCount(try reader.number()) }
    isWhole = flags.contains(.whole)
    isLive = flags.contains(.live)
  }

  private static func header(
    from reader: inout PackedReader
  ) throws(PackedReader.Failure) -> RecordHeader {
    let length = try reader.number(Int.self)
    var types: [SerialType] = []
    for _ in 0..<max(0, try reader.number(Int.self)) {
      guard let type = SerialType(try reader.number(UInt64.self)) else {
        throw PackedReader.Failure()
      }
      types.append(type)
    }
    return RecordHeader(types, length: length)
  }
}

extension RecoveredPlace.File {
  /// Its place among all.
  var number: Int {
    switch self {
    case .database: 0
    case .log: 1
    case .journal: 2
    }
  }
}

extension RecoveredPlace.Kind {
  /// Its place among all.
  var number: Int {
    switch self {
    case .earlierPage: 0
    case .freePage: 1
    case .lostPage: 2
    case .slack: 3
    case .page: 4
    }
  }
}

// An entry as bytes, to keep it in a temporary database. Its id is not among them.
extension RecoveredStore.Entry {
  private struct Flags: OptionSet {
    let rawValue: Int64
    static let older = Flags(rawValue: 1)
    static let certainBody = Flags(rawValue: 2)
    static let id = Flags(rawValue: 4)
    static let frame = Flags(rawValue: 8)
    static let blob = Flags(rawValue: 16)
    static let response = Flags(rawValue: 32)
    static let key = Flags(rawValue: 64)
    static let body = Flags(rawValue: 128)
  }

  /// Adds the entry to values.
  func pack(into values: inout PackedValues) {
    var flags: Flags = []
    if fact.isOlderVersion { flags.insert(.older) }
    if rows.isBodyCertain { flags.insert(.certainBody) }
    if fact.entryID != nil { flags.insert(.id) }
    if fact.place.frame != nil { flags.insert(.frame) }
    if rows.blob != nil { flags.insert(.blob) }
    if rows.response != nil { flags.insert(.response) }
    if rows.key != nil { flags.insert(.key) }
    if rows.body != nil { flags.insert(.body) }
    values.append(flags.rawValue)
    if let id = fact.entryID { values.append(id) }
    values.append(fact.confidence.number)
    values.append(fact.place.file.number)
    values.append(fact.place.kind.number)
    values.append(Int64(fact.place.page))
    if let frame = fact.place.frame { values.append(frame) }
    values.append(fact.place.offset)
    values.append(stored)
    values.append(to)
    for row in rows.rows { row.pack(into: &values) }
  }

  /// Reads an entry that was packed.
  init(from reader: inout PackedReader, id: StoredResponse.ID) throws(PackedReader.Failure) {
    let flags = Flags(rawValue: try reader.number())
    let entryID = flags.contains(.id) ? try reader.number() : nil
    let confidence = try reader.element(of: RecoveryConfidence.allCases)
    let place = RecoveredPlace(
      file: try reader.element(of: RecoveredPlace.File.allCases),
      kind: try reader.element(of: RecoveredPlace.Kind.allCases),
      page: try reader.number(UInt32.self),
      frame: flags.contains(.frame) ? try reader.number(Int.self) : nil,
      offset: try reader.number())
    let stored = try reader.real()
    let to = try reader.number()
    var rows = RecoveryJoining.Joined()
    rows.isBodyCertain = flags.contains(.certainBody)
    // In the order of ``RecoveryJoining/Joined/rows``.
    if flags.contains(.blob) { rows.blob = try FoundRow(from: &reader) }
    if flags.contains(.response) { rows.response = try FoundRow(from: &reader) }
    if flags.contains(.key) { rows.key = try FoundRow(from: &reader) }
    if flags.contains(.body) { rows.body = try FoundRow(from: &reader) }
    self.init(
      fact: RecoveredStore.Fact(
        id: id, entryID: entryID, confidence: confidence, place: place,
        isOlderVersion: flags.contains(.older)),
      rows: rows, stored: stored, to: to)
  }
}

extension RecoveryConfidence {
  /// Its place among all.
  fileprivate var number: Int {
    switch self {
    case .complete: 0
    case .bodyUncertain: 1
    case .bodyMissing: 2
    case .onlyURL: 3
    // No database has it.
    case .onlyBody: 4
    }
  }
}
