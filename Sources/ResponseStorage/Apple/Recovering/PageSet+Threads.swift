import Files
import SQLitePages

extension PageSet {
  /// The number of consecutive pages that a thread works on at a time.
  private static let partLength: UInt32 = 2_048

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
    let threadCount = min(processorCount, Int(partCount))
    return try BackgroundThread.map(threadCount) { thread in
      var result = initial
      // By turns, as the tables are not spread evenly.
      for part in stride(from: UInt32(thread), to: partCount, by: threadCount) {
        let first = part * Self.partLength
        let last = min(first + (Self.partLength - 1), highest)
        for page in first...last where contains(page) { try work(&result, page) }
      }
      return result
    }
  }
}
