import Bytes
import Testing

@testable import ResponseStorage

@Suite struct BodyTests {
  /// Returns a body that yields `bytes` in pieces of at most `pieceSize`, whatever size it announces.
  private func body(_ bytes: [UInt8], size: Int, pieceSize: Int = .max) -> Body {
    Body(size: ByteCount(size)) {
      var rest = bytes[...]
      return BodyReader(size: ByteCount(size)) { buffer in
        let piece = rest.prefix(min(buffer.count, pieceSize))
        buffer.replaceSubrange(0..<piece.count, with: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
      }
    }
  }

  private func chunks(of body: Body) throws -> [UInt8] {
    var all: [UInt8] = []
    try body.forEachChunk { chunk in
      #expect(chunk.count <= 1 << 16)
      all += chunk
    }
    return all
  }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000], [1_000, 65_536, .max])
  func `a body can be read repeatedly`(size: Int, pieceSize: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let body = body(bytes, size: size, pieceSize: pieceSize)
    #expect(body.bytes == nil)
    for _ in 1...2 {
      #expect(try chunks(of: body) == bytes)
      #expect(try body.readAll() == bytes)
    }
  }

  @Test func `bytes in memory are one chunk`() throws {
    let body = Body([UInt8](repeating: 7, count: 100_000))
    #expect(body.size == ByteCount(100_000) && body.bytes?.count == 100_000)
    var counts: [Int] = []
    try body.forEachChunk { counts.append($0.count) }
    #expect(counts == [100_000])
    #expect(try body.readAll().count == 100_000)
  }

  @Test(arguments: [0, 2, 4])
  func `a body of a different length is an error`(count: Int) {
    let body = body([UInt8](repeating: 1, count: count), size: 3)
    let pushed = #expect(throws: StoreError.self) { try chunks(of: body) }
    #expect(
      pushed?.code == .changedWhileReading && pushed?.reason == "the length of a body changed")
    let pulled = #expect(throws: StoreError.self) { try body.readAll() }
    #expect(
      pulled.map { "\($0)" } == "a body changed while it was read: the length of a body changed")
  }

  @Test func `a body that has grown since it was measured is not read into memory`() {
    let grown = Body(size: 1) {
      BodyReader(size: ByteCount(Int64.max)) { _ in
        Issue.record("it was read")
        return 0
      }
    }
    let failure = #expect(throws: StoreError.self) { try grown.readAll() }
    #expect(failure?.reason == "the length of a body changed")
  }

  @Test func `errors of the source are rethrown`() {
    struct Failure: Error {}
    let body = Body(size: 1) { BodyReader(size: 1) { _ in throw Failure() } }
    #expect(throws: Failure.self) { try body.readAll() }
    #expect(throws: Failure.self) { try body.forEachChunk { _ in } }
    #expect(throws: Failure.self) {
      try Body(size: 1) { throw Failure() }.forEachChunk { _ in }
    }
  }
}
