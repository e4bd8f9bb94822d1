import Bytes
import Files
import Foundation
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct BodyVerifyingTests {
  /// The bytes that a source returns on each read.
  private final class Readings {
    var rest: [[UInt8]]

    init(_ rest: [[UInt8]]) { self.rest = rest }

    func body(size: Int, sha256: String? = nil, isReadOnce: Bool = false) -> Body {
      Body(size: ByteCount(size), sha256: sha256, isReadOnce: isReadOnce) { [self] in
        BodyReader(rest.removeFirst())
      }
    }
  }

  private func written(_ body: Body) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let sha256 = try body.forEachVerifiedChunk { bytes += $0 }
    #expect(sha256 == Digest(of: bytes).hexadecimal)
    return bytes
  }

  // Small bodies are kept in memory, and large ones in a file.
  @Test(arguments: [0, 5, 1 << 20, 1 << 20 + 1, 3_000_000])
  func `a body that can be read only once is copied`(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 131 >> 3) }
    let readings = Readings([bytes])
    var seen: [UInt8] = []
    let body = try readings.body(size: size, isReadOnce: true)
      .measured { seen += $0 }
    #expect(seen == bytes && readings.rest.isEmpty)
    #expect(body.size == ByteCount(size) && body.sha256 == Digest(of: bytes).hexadecimal)
    for _ in 1...2 { #expect(try written(body) == bytes) }
  }

  @Test(arguments: ["abd", "ab", "abcd", ""])
  func `a changed body is an error`(second: String) throws {
    let readings = Readings([Array("abc".utf8), Array(second.utf8)])
    let body = try readings.body(size: 3).measured()
    #expect(body.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let error = #expect(throws: StoreError.self) { try written(body) }
    #expect(
      error.map { "\($0)" }
        == "a body changed while it was read: the length or digest of a body changed")
  }

  @Test(arguments: ["", "ab", "abcd"])
  func `a body of another length than announced is an error without a known digest`(
    text: String
  ) {
    let body = Readings([Array(text.utf8)]).body(size: 3)
    let error = #expect(throws: StoreError.self) { try body.forEachVerifiedChunk { _ in } }
    #expect(
      error?.code == .changedWhileReading
        && error?.reason == "the length or digest of a body changed")
  }

  @Test func `an announced digest is verified on the first read`() throws {
    let bytes = Array("abc".utf8)
    let right = Readings([bytes]).body(size: 3, sha256: Digest(of: bytes).hexadecimal)
    #expect(try written(right) == bytes)
    let wrong = Readings([bytes]).body(size: 3, sha256: Digest(of: []).hexadecimal)
    let error = #expect(throws: StoreError.self) { try wrong.forEachVerifiedChunk { _ in } }
    #expect(error?.code == .changedWhileReading)
  }

  @Test func `a body with a known digest is not read`() throws {
    let readings = Readings([Array("abc".utf8)])
    #expect(try readings.body(size: 3, sha256: "known").digest() == "known")
    #expect(readings.rest.count == 1)
    #expect(try readings.body(size: 3).digest() == Digest(of: Array("abc".utf8)).hexadecimal)
    #expect(readings.rest.isEmpty)
  }
}
