import Foundation
import Testing

/// Another process that has a database open, because locks within one process do not conflict.
final class SQLiteProcess {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  /// Starts the process, and waits until it has executed `statements`.
  init(_ database: String, _ statements: String) throws {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-batch", database]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try ask("\(statements); SELECT 'ready';", until: "ready\n")
  }

  /// Returns the number of entries that the process sees.
  func countEntries() throws -> String {
    let answer = try ask(
      "SELECT 'count', count(*) FROM cfurl_cache_response; SELECT 'done';", until: "done\n")
    return String(answer.dropFirst("count|".count).prefix { $0 != "\n" })
  }

  /// Ends the process, which closes the database and releases its locks.
  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  @discardableResult private func ask(_ statements: String, until mark: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(statements)\n".utf8))
    var answer = ""
    while !answer.hasSuffix(mark) {
      let data = output.fileHandleForReading.availableData
      try #require(!data.isEmpty, "sqlite3 has ended: \(answer)")
      answer += String(decoding: data, as: UTF8.self)
    }
    return answer
  }
}
