import Bytes
import Foundation
import ResponseStorage
import Testing

@Suite struct AppleScanTests {
  @Test func `rows out of order are damage, unless another process is writing`() throws {
    let folder = try AppleParallelScanTests.store()
    let path = "\(folder.path)/Cache.db"
    let root = try Tool.output(
      "sqlite3", path, "SELECT rootpage FROM sqlite_master WHERE name = 'cfurl_cache_blob_data'")
    let page = try #require(Int(root.prefix { $0.isNumber }))
    var data = try Data(contentsOf: URL(filePath: path))
    // Swap the first two cells of the root, an interior page. The cell pointers follow the page header.
    let start = (page - 1) * 4_096
    #expect(data[start] == 5)
    for index in 12..<14 { data.swapAt(start + index, start + index + 2) }
    try data.write(to: URL(filePath: path))
    // A copy would be read of a database that was written just now.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: path)

    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    let damage = #expect(throws: StoreError.self) {
      try store.scan(.all) { _ in .next }
    }
    #expect(damage?.code == .damaged && damage?.reason == "its rows are out of order")
    let change = #expect(throws: StoreError.self) {
      try store.scan(.all) { _ in
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
        return .next
      }
    }
    #expect(change?.code == .changedWhileReading)
  }

  @Test func `a row with a value too large to be read is listed without it`() throws {
    let folder = try Folder()
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    let script = "\(folder.path)/script"
    try """
    PRAGMA journal_mode = DELETE;
    CREATE TEMP TABLE n AS SELECT 1 AS i UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
      UNION SELECT \(Int64.max);
    INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key)
      SELECT i, 0, iif(i = 2, 'k' || hex(zeroblob(17000000)), 'https://a.example/' || i) FROM n;
    INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object)
      SELECT i, iif(i IN (3, \(Int64.max)), zeroblob(40000000), x'00'), x'00' FROM n;
    INSERT INTO cfurl_cache_receiver_data(entry_ID, isDataOnFS, receiver_data)
      SELECT i, 0, iif(i = 2, hex(zeroblob(20000000)), zeroblob(min(i, 5) * 12000000)) FROM n;
    """.write(toFile: script, atomically: false, encoding: .utf8)
    _ = try Tool.output("sqlite3", "\(folder.path)/Cache.db", ".read \(script)")
    try FileManager.default.removeItem(atPath: script)

    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var lines: [String] = []
    try store.scan([.key, .body, .stored, .notes]) { response in
      let notes = response.notes.map { "\($0.code.rawValue): \($0.message)" }
      lines.append(
        ([
          "\(response.id)", response.key?.string ?? "no key", "\(response.bodySize ?? -1)",
        ] + notes).joined(separator: " · "))
      return .next
    }
    let request = "undecodable: request_object cannot be decoded: not a binary property list"
    let undecodable =
      "undecodable: response_object cannot be decoded: not a binary property list · \(request)"
    #expect(
      lines == [
        "row(1) · https://a.example/1 · 12000000 · \(undecodable)",
        "row(2) · no key · 40000000 · wrong-type: request_key is not text · \(undecodable)"
          + " · wrong-type: request_key is not text",
        "row(3) · https://a.example/3 · 36000000"
          + " · too-large: response_object is too large to read · \(request)",
        "row(4) · https://a.example/4 · 48000000 · \(undecodable)",
        "row(\(Int64.max)) · https://a.example/\(Int64.max) · 60000000"
          + " · too-large: response_object is too large to read · \(request)",
      ])
  }

  @Test func `the row with the largest id is listed last`() throws {
    let folder = try Folder()
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    // The second response is missing from both other tables, and the third is in only one of them.
    _ = try Tool.output(
      "sqlite3", "\(folder.path)/Cache.db",
      """
      INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key)
        VALUES (-7, 0, 'a'), (5, 0, 'b'), (\(Int64.max), 0, 'c');
      INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object)
        VALUES (-7, x'00', x'00'), (\(Int64.max), x'00', x'00');
      INSERT INTO cfurl_cache_receiver_data(entry_ID, isDataOnFS, receiver_data)
        VALUES (-7, 0, x'01'), (6, 0, x'0203'), (\(Int64.max), 0, x'040506');
      """)
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var rows: [String] = []
    try store.scan([.key, .body]) { response in
      rows.append("\(response.id) \(response.key?.string ?? "-") \(response.bodySize ?? -1)")
      return .next
    }
    #expect(
      rows == [
        "row(-7) a 1", "row(5) b -1", "row(6) - 2", "row(\(Int64.max)) c 3",
      ])
    #expect(try store.count() == 4)
    #expect(try store.response(.row(.max), .key)?.key == "c")
  }
}
