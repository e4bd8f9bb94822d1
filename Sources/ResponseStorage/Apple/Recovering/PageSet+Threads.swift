import Files
import SQLitePages

extension PageSet {
  /// The number of consecutive pages that a thread works on at a time.
  private static let partLength: UInt32 = 2_048

  /// The most threads: each needs memory of its own.
  private static let mostThreads = 8

  /// Works on the pages on several threads.
  ///
  /// - Parameters:
  ///   - initial: What each thread begins with.
  ///   - work: Works on a page.
  /// - Returns: What each thread ends with.
  /// - Throws: An error of `work`.
  func divided<Part: Sendable>(
    _ initial: Part, _ work: @Sendable (inout Part, UInt32) throws -> Void
  ) throws -> [Part] {
    let partCount = highest / Self.partLength + 1
    let threadCount = min(processorCount, Self.mostThreads, Int(partCount))
    return try BackgroundThread.map(threadCount) { thread in
      var result = initial
      // By turns, as the tables are not spread evenly.
      for part in stride(from: UInt32(thread), to: partCount, by: threadCount) {
        let first = part * Self.partLength
        try forEach(in: first..<first + Self.partLength) { try work(&result, $0) }
      }
      return result
    }
  }
}
