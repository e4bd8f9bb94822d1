import Administration
import Bytes
import Fetching
import Files
import ResponseStorage

/// A list of texts and numbers that a worker sends, and that are read in the same order.
///
/// What a worker sends is checked: a hostile cache may have taken it over.
struct WorkerValues {
  private var texts: [[UInt8]] = []
  private var payload = Payload([])

  init() {}

  init(_ bytes: [UInt8]) { payload = Payload(bytes) }

  var bytes: [UInt8] { Payload.bytes(texts) }

  mutating func add(_ bytes: [UInt8]) { texts.append(bytes) }
  mutating func add(_ text: String) { texts.append(Array(text.utf8)) }
  mutating func add(_ number: Int64) { add(String(number)) }
  /// Adds a value that there may be none of.
  mutating func add(optional text: String?) {
    add(text == nil ? 0 : 1 as Int64)
    if let text { add(text) }
  }
  mutating func add(optional number: Int64?) { add(optional: number.map { String($0) }) }

  mutating func text() throws -> String { String(decoding: try data(), as: UTF8.self) }
  mutating func data() throws -> [UInt8] {
    guard let next = payload.next() else { throw WorkerFailure.protocolViolated }
    return next
  }
  mutating func number() throws -> Int64 {
    guard let next = payload.nextNumber() else { throw WorkerFailure.protocolViolated }
    return next
  }
  /// A number of things.
  mutating func count() throws -> Int {
    let count = try number()
    guard (0...Int64(Int32.max)).contains(count) else { throw WorkerFailure.protocolViolated }
    return Int(count)
  }
  mutating func optionalText() throws -> String? { try number() == 0 ? nil : try text() }
  mutating func optionalNumber() throws -> Int64? { try number() == 0 ? nil : try number() }
}

/// Why a worker has no result.
enum WorkerFailure: Error {
  /// What it sent makes no sense.
  case protocolViolated
  /// It could not become the user.
  case rightsNotGivenUp
}

extension RunRecord {
  /// Appends what a worker found out; the rest is known to who started it.
  func append(to values: inout WorkerValues) {
    values.add(Int64(status.rawValue))
    values.add(removedEntries)
    values.add(removedBytes.bytes)
    values.add(left)
    values.add(isSkipped ? 1 : 0 as Int64)
    values.add(optional: message)
    values.add(Int64(absences?.count ?? 0))
    for absence in absences ?? [] {
      switch absence.name {
      case .id(.row(let row)): values.add("row \(row)")
      case .id(.file(let name)): values.add("file \(name)")
      case .url(let url): values.add(Array("url ".utf8) + url.bytes)
      }
      values.add(absence.sentence)
    }
  }

  /// Reads what ``append(to:)`` has appended.
  func read(_ values: inout WorkerValues) throws {
    guard let status = Int32(exactly: try values.number()).flatMap(ExitStatus.init) else {
      throw WorkerFailure.protocolViolated
    }
    self.status = status
    addRemoved(entries: try values.number(), bytes: ByteCount(try values.number()))
    left = try values.number()
    isSkipped = try values.number() != 0
    message = try values.optionalText()
    for _ in 0..<(try values.count()) {
      let name = try values.data()
      let sentence = try values.text()
      guard let space = name.firstIndex(of: UInt8(ascii: " ")) else {
        throw WorkerFailure.protocolViolated
      }
      let rest = Array(name[(space + 1)...])
      let text = String(decoding: rest, as: UTF8.self)
      switch String(decoding: name[..<space], as: UTF8.self) {
      case "row": absences?.append((.id(.row(Int64(text) ?? 0)), sentence))
      case "file": absences?.append((.id(.file(ByteString(rest))), sentence))
      default: absences?.append((.url(ByteString(rest)), sentence))
      }
    }
  }
}

extension UsageReport {
  /// Appends what metrics show of a cache.
  func append(to values: inout WorkerValues) {
    values.add(footprint.totalBytes.bytes)
    values.add(footprint.orphanFiles)
    values.add(optional: inUseBytes?.bytes)
    values.add(missingBodies)
    values.add(optional: churn?.stored)
    values.add(optional: storedTimes?.lowerBound.wholeSeconds)
    values.add(Int64(groups.count))
    for group in groups {
      values.add(optional: group.key.map { String(decoding: $0.bytes, as: UTF8.self) })
      values.add(group.entries)
      values.add(group.bytes.bytes)
    }
  }

  /// Reads what ``append(to:)`` has appended.
  init(_ values: inout WorkerValues) throws {
    var footprint = Footprint()
    footprint.databaseBytes = ByteCount(try values.number())
    footprint.orphanFiles = try values.number()
    self.init(footprint: footprint)
    inUseBytes = try values.optionalNumber().map { ByteCount($0) }
    missingBodies = try values.number()
    churn = try values.optionalNumber().map { CacheChurn(stored: $0, kept: 0) }
    storedTimes = try values.optionalNumber().flatMap {
      Timestamp(secondsSince1970: Double($0))
    }.map { $0...$0 }
    for _ in 0..<(try values.count()) {
      let key = try values.optionalText().map { ByteString($0) }
      groups.append(
        Group(key: key, entries: try values.number(), bytes: ByteCount(try values.number())))
    }
  }
}

extension Discovery {
  func append(to values: inout WorkerValues) {
    values.add(Int64(foldersTooDeep))
    values.add(Int64(unreadable.count))
    for place in unreadable {
      values.add(place.path)
      values.add(place.reason)
    }
    values.add(Int64(stores.count))
    for store in stores {
      values.add(store.path)
      values.add(store.format.rawValue)
      values.add(optional: store.schemaVersion)
      values.add(optional: store.entries)
      values.add(optional: store.footprintBytes?.bytes)
      values.add(
        optional: store.newestStored.map { String($0.secondsSince1970.bitPattern) })
      switch store.use {
      case .unknown: values.add(0 as Int64)
      case .none: values.add(1 as Int64)
      case .process(let number):
        values.add(2 as Int64)
        values.add(optional: number.map { Int64($0) })
      }
      values.add(Int64(store.notes.count))
      for note in store.notes { values.add(note) }
    }
  }

  /// Reads what ``append(to:)`` has appended.
  init(_ values: inout WorkerValues) throws {
    self.init()
    foldersTooDeep = try values.count()
    for _ in 0..<(try values.count()) {
      unreadable.append(UnreadablePlace(path: try values.text(), reason: try values.text()))
    }
    for _ in 0..<(try values.count()) {
      var store = FoundStore(
        path: try values.text(), format: StoreDescription.Format(rawValue: try values.text()))
      store.schemaVersion = try values.optionalNumber()
      store.entries = try values.optionalNumber()
      store.footprintBytes = try values.optionalNumber().map { ByteCount($0) }
      store.newestStored = try values.optionalText().flatMap { UInt64($0) }.flatMap {
        Timestamp(secondsSince1970: Double(bitPattern: $0))
      }
      switch try values.number() {
      case 0: store.use = .unknown
      case 1: store.use = .none
      default: store.use = .process(try values.optionalNumber().flatMap { Int32(exactly: $0) })
      }
      for _ in 0..<(try values.count()) { store.notes.append(try values.text()) }
      stores.append(store)
    }
  }

  /// Adds what another search has found.
  mutating func add(_ other: Discovery) {
    foldersTooDeep += other.foldersTooDeep
    let paths = Set(stores.map(\.path))
    stores += other.stores.filter { !paths.contains($0.path) }
    stores.sort { ByteString($0.path) < ByteString($1.path) }
    unreadable = Set(unreadable + other.unreadable).sorted {
      ByteString($0.path) < ByteString($1.path)
    }
  }
}
