/// Reads the pages of a database in one of its states.
public protocol PageReading {
  /// Reads a page.
  ///
  /// - Parameters:
  ///   - page: The number of the page; the first is 1.
  ///   - buffer: Receives the bytes of the whole page.
  /// - Returns: `false` if there is no such page.
  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool
}
