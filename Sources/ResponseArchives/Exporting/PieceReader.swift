/// Passes pieces of any length on to whoever reads them into buffers.
struct PieceReader {
  private let next: () throws -> ArraySlice<UInt8>
  private var unread: ArraySlice<UInt8> = []

  /// - Parameter next: Returns the next bytes; none at the end.
  init(_ next: @escaping () throws -> ArraySlice<UInt8>) {
    self.next = next
  }

  /// Reads on, into the front of `buffer`.
  ///
  /// - Returns: The number of bytes; 0 at the end.
  mutating func read(into buffer: inout [UInt8]) throws -> Int {
    if unread.isEmpty { unread = try next() }
    let piece = unread.prefix(buffer.count)
    buffer.replaceSubrange(0..<piece.count, with: piece)
    unread = unread.dropFirst(piece.count)
    return piece.count
  }
}
