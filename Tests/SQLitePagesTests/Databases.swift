import Foundation
import SQLitePages
import Testing

/// Databases that the SQLite of this machine has made, once for all tests.
enum Databases {
  /// The folder of the databases.
  static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(component: "make_databases.py")
    process.arguments = ["python3", script.path(), folder.path()]
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try process.run()
    } catch {
      fatalError("cannot make databases: \(error)")
    }
    process.waitUntilExit()
    precondition(process.terminationStatus == 0, "cannot make databases")
    atexit { try? FileManager.default.removeItem(at: Databases.folder) }
    return folder
  }()

  /// Returns the bytes of a file in the folder.
  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(component: name)))
  }

  /// The databases with removed rows: each page size, kind of vacuum and number of reserved bytes.
  static let plain = DatabaseHeader.pageSizes.flatMap { size in
    ["0-0", "1-0", "2-0", "2-32"].map { "plain-\(size)-\($0).db" }
  }

  /// The number of rows that were written.
  static func rowCount(pageSize: Int) -> Int { pageSize <= 4_096 ? 180 : 60 }

  /// Returns what the column `content` of a row has, as `make_databases.py` writes it.
  static func content(_ number: Int, pageSize: Int) -> [UInt8] {
    let length = [0, 10, 200, pageSize / 2, pageSize, 3 * pageSize + 7][number % 6]
    return (0..<length).map { UInt8((number * 7 + $0 * (number % 5 + 1)) % 251) }
  }

  /// Whether the databases have a row with a number after the removal.
  static func isKept(_ number: Int) -> Bool {
    number % 3 != 0 && !(30...40).contains(number) && !(70...110).contains(number)
  }
}

/// A database in memory.
struct MemoryPages: PageReading {
  var bytes: [UInt8]
  let pageSize: Int
  /// How often a page was read.
  var reads = 0

  var pageCount: UInt32 { UInt32(bytes.count / pageSize) }

  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool {
    reads += 1
    guard page >= 1, page <= pageCount else { return false }
    buffer = Array(bytes[(Int(page) - 1) * pageSize..<Int(page) * pageSize])
    return true
  }

  /// Returns the whole payload of a cell; `nil` if its chain is damaged.
  mutating func payload(
    _ payload: Payload, in page: [UInt8], usableSize: Int, visiting visited: inout [UInt32]
  ) throws -> [UInt8]? {
    var result = Array(page[payload.local])
    var chain = OverflowChain(of: payload, usableSize: usableSize)
    var buffer: [UInt8] = []
    while chain.remaining > 0 {
      visited.append(chain.page)
      guard try read(chain.page, into: &buffer), let range = chain.advance(over: buffer.span)
      else { return nil }
      result += buffer[range]
    }
    return chain.isComplete ? result : nil
  }

  /// Returns the root page of a table or index.
  mutating func root(of name: String, usableSize: Int) throws -> UInt32? {
    var page: [UInt8] = []
    guard try read(1, into: &page),
      let tree = BTreePage(page.span, number: 1, usableSize: usableSize)
    else { return nil }
    for index in 0..<tree.cellCount {
      guard let start = tree.offset(ofCell: index, in: page.span),
        let cell = RowCell(page.span, at: start, usableSize: usableSize)
      else { continue }
      let payload = Array(page[cell.payload.local])
      guard let header = RecordHeader(payload.span, at: 0, before: payload.count),
        Array(payload[header.values[1].range]) == Array(name.utf8)
      else { continue }
      return header.integer(3, in: payload.span).map { UInt32($0) }
    }
    return nil
  }
}
