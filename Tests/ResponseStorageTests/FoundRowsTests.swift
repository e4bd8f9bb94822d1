import Bytes
import SQLitePages
import Testing

@testable import ResponseStorage

@Suite struct FoundRowsTests {
  @Test func `a row is the same after it was kept`() throws {
    for row in Self.rows {
      var values = PackedValues()
      row.pack(into: &values)
      var reader = PackedReader(values.bytes)
      #expect(try String(reflecting: FoundRow(from: &reader)) == String(reflecting: row))
    }
  }

  @Test func `an entry is the same after it was kept`() throws {
    let rows = Self.rows
    for (joined, frame, id) in [
      (RecoveryJoining.Joined(response: rows[0], blob: rows[1], body: rows[2], key: rows[3]), 7, 9),
      (RecoveryJoining.Joined(body: rows[2], isBodyCertain: true), nil, nil),
      (RecoveryJoining.Joined(key: rows[3]), nil, 1),
    ] as [(RecoveryJoining.Joined, Int?, Int64?)] {
      for (number, confidence) in RecoveryConfidence.allCases.enumerated() {
        let entry = RecoveredStore.Entry(
          fact: .init(
            id: .row(5), entryID: id, confidence: confidence,
            place: RecoveredPlace(
              file: .journal, kind: RecoveredPlace.Kind.allCases[(number + 1) % 5], page: .max,
              frame: frame, offset: .max), isOlderVersion: number % 2 == 0),
          rows: joined, stored: -0.0, to: .min)
        var values = PackedValues()
        entry.pack(into: &values)
        var reader = PackedReader(values.bytes)
        let read = try RecoveredStore.Entry(from: &reader, id: .row(5))
        #expect(String(reflecting: read) == String(reflecting: entry))
      }
    }
  }

  @Test func `bytes that are cut or changed are an error or another row`() {
    for row in Self.rows {
      var values = PackedValues()
      row.pack(into: &values)
      for count in values.bytes.indices {
        var reader = PackedReader(Array(values.bytes[..<count]))
        #expect(throws: PackedReader.Failure.self) { try FoundRow(from: &reader) }
        for bit in 0..<8 {
          var bytes = values.bytes
          bytes[count] ^= 1 << bit
          var other = PackedReader(bytes)
          _ = try? FoundRow(from: &other)
        }
      }
    }
  }

  @Test func `rows are read by entry, in the order in which they were found`() throws {
    let rows = try FoundRows()
    #expect(try rows.isEmpty())
    let found = [
      (Self.row(3, "a"), 30), (Self.row(1, "b"), 9), (Self.row(3, "c"), 10), (Self.row(1, "d"), 8),
    ]
    for (row, digest) in found { try rows.append(row, Self.identity(row, digest)) }
    #expect(try Self.groups(of: rows) == [["b", "d"], ["a", "c"]])
    #expect(try !rows.isEmpty())
    #expect(try [0, 1, 3].map { try rows.id(after: $0) } == [1, 3, nil])
  }

  @Test func `a row that is replaced keeps its place`() throws {
    let rows = try FoundRows()
    for (text, digest) in [("a", 2), ("b", 1)] {
      let row = Self.row(1, ByteString(text))
      try rows.append(row, Self.identity(row, digest))
    }
    let identity = RowIdentity(table: .responses, id: 1, digest: 2)
    var row = try #require(try rows.row(identity))
    row.text = "c"
    try rows.replace(identity, with: row)
    #expect(try rows.row(RowIdentity(table: .responses, id: 2, digest: 2)) == nil)
    #expect(try rows.row(RowIdentity(table: .responses, id: nil, digest: 2)) == nil)
    #expect(try Self.groups(of: rows) == [["c", "b"]])
  }

  @Test func `a row without an id belongs to the only entry with its URL`() throws {
    let rows = try FoundRows()
    let texts: [(Int64?, ByteString)] = [
      (nil, "https://a/"), (nil, "https://b/"), (nil, "https://c/"), (2, "https://b/"),
      (1, "https://a/"), (3, "https://b/"), (nil, "https://d/"), (nil, "https://c/"),
      (1, "https://x/"),
    ]
    for (digest, (id, text)) in texts.enumerated() {
      let row = Self.row(id, text)
      // In another order than the rows.
      try rows.append(row, Self.identity(row, (digest * 5) % 9))
    }
    #expect(
      try Self.groups(of: rows) == [
        ["https://d/"], ["https://c/", "https://c/"], ["https://b/"],
        ["https://a/", "https://a/", "https://x/"], ["https://b/"], ["https://b/"],
      ])
  }

  @Test func `a row that has lost its id is grouped by its URL`() throws {
    let rows = try FoundRows()
    for (id, text) in [(5, "https://a/"), (6, "https://b/"), (7, "https://a/")] {
      let row = Self.row(Int64(id), ByteString(text))
      try rows.append(row, Self.identity(row, id))
    }
    for id in [5, 6] {
      let identity = RowIdentity(table: .responses, id: Int64(id), digest: id)
      var row = try #require(try rows.row(identity))
      row.id = nil
      try rows.replace(identity, with: row)
      // It is still found by the id that it had.
      #expect(try rows.row(identity)?.id == nil)
    }
    #expect(try rows.id(after: 0) == 7)
    #expect(try Self.groups(of: rows) == [["https://b/"], ["https://a/", "https://a/"]])
  }

  @Test func `an equal row with an id is known`() throws {
    let rows = try FoundRows()
    for (id, digest) in [(nil, 1), (nil, 2), (7, 2), (8, 2), (9, 3)] as [(Int64?, Int)] {
      let row = Self.row(id, "https://a/")
      try rows.append(row, Self.identity(row, digest))
    }
    var named: [Int64?] = []
    try rows.forEachDouble {
      named.append($0.id)
      #expect($1 == RowIdentity(table: .responses, id: nil, digest: 2))
    }
    #expect(named == [7, 8])
    try rows.removeDoubles()
    var left: [Int] = []
    try rows.forEach(.nameless) { left.append($1.digest) }
    #expect(left == [1])
  }

  @Test func `of rows with one id, the first of each table are looked at`() throws {
    let rows = try FoundRows()
    for number in 0..<10_005 {
      var row = Self.row(1, "https://a/")
      row.isLive = number == 10_004
      row.stored = Double(number)
      try rows.append(row, Self.identity(row, -number))
    }
    try rows.forEachGroup { group in
      #expect(group.rows.map(\.stored) == (0..<10_000).map(Double.init))
      #expect(group.isShown)
    }
  }

  @Test func `each entry gets an id of its own`() throws {
    let (first, second, third): (ByteString, ByteString, ByteString) = (
      "https://1/", "https://2/", "https://3/"
    )
    let entries: [RecoveredStore.Entry] = [
      Self.entry(nil, third, 1), Self.entry(4, first, 1), Self.entry(4, first, 3),
      Self.entry(2, first, 2), Self.entry(2, second, 2), Self.entry(9, second, 5, isOlder: true),
      Self.entry(nil, nil, 8), Self.entry(nil, nil, 8, isOlder: true),
    ]
    #expect(
      try Self.numbers(of: entries, withVersions: true) == [
        "2 https://1/ 2.0", "4 https://1/ 3.0", "9 https://2/ 5.0", "10 https://2/ 2.0",
        "11 https://1/ 1.0", "12 - 8.0", "13 - 8.0", "14 https://3/ 1.0",
      ])
    #expect(
      try Self.numbers(of: entries, withVersions: false) == [
        "2 https://2/ 2.0", "4 https://1/ 3.0", "5 - 8.0", "6 https://3/ 1.0",
      ])
  }

  @Test func `the newest version is the one of which most is left`() throws {
    let url: ByteString = "https://1/"
    var onlyURL = Self.entry(1, url, 9)
    onlyURL.rows.blob = nil
    var complete = Self.entry(2, url, 3)
    complete.fact.confidence = .complete
    var later = complete
    (later.to, later.fact.entryID) = (5, 1)
    var last = later
    last.fact.entryID = 3
    for (entries, id) in [
      ([onlyURL, Self.entry(5, url, 1)], 5), ([Self.entry(5, url, 3), complete], 2),
      ([complete, Self.entry(5, url, 4)], 5), ([complete, later], 1), ([last, later, complete], 3),
    ] as [([RecoveredStore.Entry], Int64)] {
      for order in [entries, entries.reversed()] {
        #expect(try Self.numbers(of: order, withVersions: false).map { $0.prefix(2) } == ["\(id) "])
      }
    }
  }

  @Test func `no id is above the largest number`() throws {
    let entries = [Self.entry(.max - 1, "https://1/", 1), Self.entry(.max - 1, "https://2/", 2)]
    #expect(
      try Self.numbers(of: entries, withVersions: true) == ["1 https://2/ 2.0", "2 https://1/ 1.0"])
  }
}

extension FoundRowsTests {
  /// Rows with and without all values.
  private static let rows: [FoundRow] = {
    var rows = (0..<AppleRecordShapes.all.count).map { shape in
      FoundRow(
        shape: shape, id: Int64(shape), from: Int64(shape) - 3, to: .max,
        image: .init(
          time: Int64(-1) << shape, file: RecoveredPlace.File.allCases[shape % 3], number: shape,
          offset: .max), page: .max, kind: RecoveredPlace.Kind.allCases[shape % 5],
        payload: Payload(size: 1 << 30, local: 5..<70_000, firstOverflowPage: .max))
    }
    rows[0].id = nil
    rows[0].text = ""
    rows[1].text = ByteString([0, 0xFF, 0x80])
    (rows[1].from, rows[1].to) = (FoundRow.unknown, .min)
    rows[1].header = RecordHeader(
      [0, 1, 9, 12, 1 << 31].compactMap { (code: UInt64) in SerialType(code) }, length: 6)
    rows[2].bodySize = 0
    rows[2].stored = 0.1
    rows[3].bodySize = ByteCount(Int64.max)
    rows[3].isWhole = false
    rows[3].isLive = true
    return rows
  }()

  private static func row(_ id: Int64?, _ text: ByteString?) -> FoundRow {
    FoundRow(
      shape: 0, id: id, from: 0, to: 1,
      image: .init(time: 0, file: .database, number: 0, offset: 0), page: 2, kind: .page,
      payload: Payload(size: 9, local: 0..<9, firstOverflowPage: 0), text: text)
  }

  private static func identity(_ row: FoundRow, _ digest: Int) -> RowIdentity {
    RowIdentity(table: row.table, id: row.id, digest: digest)
  }

  private static func groups(of rows: FoundRows) throws -> [[String]] {
    var groups: [[String]] = []
    try rows.forEachGroup { groups.append($0.rows.map { $0.text?.string ?? "-" }) }
    return groups
  }

  private static func entry(
    _ id: Int64?, _ text: ByteString?, _ stored: Double, isOlder: Bool = false
  ) -> RecoveredStore.Entry {
    let row = row(id, text)
    return .init(
      fact: .init(
        id: .row(0), entryID: id, confidence: .bodyMissing, place: row.place,
        isOlderVersion: isOlder),
      rows: .init(response: row, blob: row), stored: stored, to: 1)
  }

  private static func numbers(
    of entries: [RecoveredStore.Entry], withVersions: Bool
  ) throws -> [String] {
    let kept = try RecoveredEntries()
    for entry in entries { try kept.append(entry) }
    try kept.number(withVersions: withVersions)
    var result: [String] = []
    try kept.forEach { entry throws in
      guard case .row(let id) = entry.fact.id else { return .next }
      result.append("\(id) \(entry.key?.string ?? "-") \(entry.stored)")
      #expect(try kept.entry(entry.fact.id)?.fact == entry.fact)
      #expect(try kept.entry(.row(id + 100))?.fact == nil)
      #expect(try kept.entry(entry.fact.id)?.fact == entry.fact)
      return .next
    }
    #expect(kept.count == Int64(result.count))
    return result
  }
}
