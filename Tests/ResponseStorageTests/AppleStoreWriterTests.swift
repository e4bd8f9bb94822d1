import Bytes
import Foundation
import ResponseStorage
import Testing

@Suite struct AppleStoreWriterTests {
  @Test(arguments: AppleSchema.allCases)
  func `a new store has the exact schema text of Apple`(schema: AppleSchema) throws {
    let folder = try store([], schema: schema)
    let statements = try query(
      "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name <> 'sqlite_sequence'", in: folder)
    let version = "CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)\n"
    #expect(statements == (schema == .version202 ? version : "") + Self.tablesAndIndexes)
  }

  @Test(arguments: [(AppleSchema.version202, "0"), (.version203, "203")])
  func `a new store is an intact database with Apple's settings`(
    schema: AppleSchema, userVersion: String
  ) throws {
    let folder = try store([row("https://a.example/", body: [1])], schema: schema)
    let settings = try query(
      "PRAGMA user_version; PRAGMA auto_vacuum; PRAGMA page_size; PRAGMA encoding; "
        + "PRAGMA journal_mode; PRAGMA integrity_check",
      in: folder)
    #expect(settings == "\(userVersion)\n2\n4096\nUTF-8\nwal\nok\n")
  }

  @Test func `schema 202 stores its version in a table`() throws {
    let folder = try store([], schema: .version202)
    #expect(try query("SELECT * FROM cfurl_cache_schema_version", in: folder) == "202\n")
  }

  @Test func `only the database and the body folder remain`() throws {
    let folder = try store([row("https://a.example/", body: [1])])
    #expect(try folder.names() == ["Cache.db", "fsCachedData"])
  }

  @Test func `rows have the columns of Apple caches`() throws {
    var again = try row("https://latency.discord.media/rtc", body: Array("two".utf8))
    again.wasUpdated = true
    again.partition = "b.example"
    let folder = try store([
      row("https://latency.discord.media/rtc?", body: []), again,
    ])
    let rows = try query(
      """
      SELECT entry_ID, version, storage_policy, request_key, time_stamp, typeof(time_stamp),
      ifnull(partition, 'NULL'), isDataOnFS, typeof(receiver_data), hex(receiver_data),
      hash_value, typeof(response_object), typeof(proto_props), typeof(user_info)
      FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID)
      JOIN cfurl_cache_receiver_data USING (entry_ID) ORDER BY entry_ID
      """, in: folder)
    let hash = CacheKeyHash(of: "https://latency.discord.media/rtc?").whenInserted
    #expect(
      rows == """
        1|0|0|https://latency.discord.media/rtc?|2025-12-31 23:59:58|text|NULL|0|blob||\(hash)|\
        blob|null|null
        2|0|0|https://latency.discord.media/rtc|2025-12-31 23:59:58|text|b.example|0|blob|74776F|\
        -1637691448|blob|null|null

        """)
  }

  @Test func `a body of 4096 bytes has a file, a smaller one does not`() throws {
    let body = [UInt8](repeating: 7, count: 4096)
    let folder = try store([
      row("https://a.example/1", body: Array(body.dropLast())),
      row("https://a.example/2", body: body),
    ])
    let stored = try query(
      "SELECT isDataOnFS, typeof(receiver_data), length(receiver_data) "
        + "FROM cfurl_cache_receiver_data", in: folder)
    #expect(stored == "0|blob|4095\n1|text|36\n")
    let file = try #require(try folder.names(in: "fsCachedData").first)
    let name = "SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS"
    #expect(try query(name, in: folder) == "\(file)\n")
    #expect(UUID(uuidString: file)?.uuidString == file)
    let bytes = try Data(contentsOf: URL(filePath: "\(folder.path)/fsCachedData/\(file)"))
    #expect(bytes == Data(body))
  }

  @Test func `bodies of any size can be kept in the database`() throws {
    let folder = try Folder()
    var writer = try AppleStoreWriter(
      creating: folder.path, schema: .version203, storesAllInline: true)
    var generator = Counter()
    let body = [UInt8](repeating: 7, count: 10_000)
    try writer.insert(row("https://a.example/", body: body), using: &generator)
    try writer.finish()
    #expect(try folder.names(in: "fsCachedData") == [])
  }

  @Test(arguments: AppleSchema.allCases)
  func `a store that is filled in bulk has the same schema and rows`(schema: AppleSchema) throws {
    let rows = try (1...300).map { number in
      let key = ByteString("https://a.example/\(number * 7_919 % 1_000)")
      return try row(key, body: [UInt8(number % 256)])
    }
    let (slow, fast) = (
      try store(rows, schema: schema), try store(rows, schema: schema, isBulk: true)
    )
    #expect(try query(".dump", in: fast) == query(".dump", in: slow))
    let settings = "PRAGMA user_version; PRAGMA journal_mode; PRAGMA integrity_check"
    #expect(try query(settings, in: fast) == query(settings, in: slow))
    #expect(try fast.names() == ["Cache.db", "fsCachedData"])
  }

  @Test func `in bulk, a key that occurs twice is an error in the end`() throws {
    let row = try row("https://a.example/", body: [1])
    #expect(throws: StoreError.self) { try store([row, row], isBulk: true) }
  }

  @Test func `an existing store is not modified`() throws {
    let folder = try store([row("https://a.example/", body: [1])])
    let error = #expect(throws: StoreError.self) {
      let writer = try AppleStoreWriter(creating: folder.path, schema: .version203)
      try writer.finish()
    }
    #expect(error?.reason == "the file already exists")
    #expect(try query("SELECT count(*) FROM cfurl_cache_response", in: folder) == "1\n")
  }

  private func store(
    _ rows: [AppleStoreWriter.Row], schema: AppleSchema = .version203, isBulk: Bool = false
  ) throws -> Folder {
    let folder = try Folder()
    var writer = try AppleStoreWriter(
      creating: folder.path, schema: schema, isDurable: false, isBulk: isBulk)
    var generator = Counter()
    for row in rows { try writer.insert(row, using: &generator) }
    try writer.finish()
    return folder
  }

  private func query(_ sql: String, in folder: Folder) throws -> String {
    try Tool.output("sqlite3", "\(folder.path)/Cache.db", sql)
  }

  private func row(_ key: ByteString, body: [UInt8]) throws -> AppleStoreWriter.Row {
    // 2025-12-31 23:59:58.5 UTC.
    let stored = try #require(Timestamp(secondsSince1970: 1_767_225_598.5))
    return .init(key: key, firstStored: stored, response: [1], request: [2], body: .bytes(body))
  }

  /// Copied by hand from `sqlite_master` of a sample store of schema 203.
  private static let tablesAndIndexes = """
    CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, \t \
    version INTEGER, hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE, \t \
    time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT)
    CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB, \
    request_object BLOB, \t\t\t  proto_props BLOB, user_info BLOB)
    CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER, \
    receiver_data BLOB)
    CREATE INDEX request_key_index ON cfurl_cache_response(request_key)
    CREATE INDEX time_stamp_index ON cfurl_cache_response(time_stamp)
    CREATE INDEX proto_props_index ON cfurl_cache_blob_data(entry_ID)
    CREATE INDEX receiver_data_index ON cfurl_cache_receiver_data(entry_ID)

    """
}

/// A counter, which is enough for unique file names.
private struct Counter: RandomNumberGenerator {
  private var number: UInt64 = 0

  mutating func next() -> UInt64 {
    number += 1
    return number
  }
}
