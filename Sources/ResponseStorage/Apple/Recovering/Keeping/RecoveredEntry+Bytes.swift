import Bytes

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
    }
  }
}
