import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct BodyCompletenessTests {
  private let now = Timestamp(secondsSince1970: 1_760_000_000)

  private func response(
    _ status: Int64, _ type: ByteString?, _ size: ByteCount?, _ lines: [String],
    at location: StoredResponse.BodyLocation = .inline
  ) -> StoredResponse {
    var response = StoredResponse(id: .row(1))
    response.status = status
    response.mimeType = type
    response.bodySize = size
    response.bodyLocation = location
    response.stored = now
    response.responseHeaders = HeaderFields(
      lines.map { line in
        let parts = line.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        return .init(
          name: ByteString(Array(parts[0])), value: ByteString(Array(parts[1].dropFirst())))
      })
    return response
  }

  private static let length = "Content-Length: 10"

  @Test(
    arguments: [
      (200, "image/png", 9, [length], .partial), (200, "image/png", 0, [length], .partial),
      (404, "image/png", 9, [length], .partial), (200, "image/png", 10, [length], .whole),
      (200, "image/png", 11, [length], .longer), (200, "image/png", 9, [], .whole),
      (200, "image/png", 9, [length, "Content-Encoding: gzip"], .whole),
      (200, "application/json", 9, [length], .rewritten),
      (200, "Application/Hal+JSON", 9, [length], .rewritten),
      (200, "application/jsonx", 9, [length], .partial), (200, nil, 9, [length], .partial),
      (206, "application/json", 9, ["Content-Range: bytes 0-8/10"], .partial),
      (206, "image/png", 9, [], .partial),
      (206, "image/png", 10, ["Content-Range: bytes 0-9/10"], .whole),
    ] as [(Int64, ByteString?, ByteCount, [String], BodyCompleteness)])
  func `the size of a body shows whether it was truncated`(
    _ status: Int64, _ type: ByteString?, _ size: ByteCount, _ lines: [String],
    _ expected: BodyCompleteness
  ) throws {
    let response = response(status, type, size, lines)
    #expect(BodyCompleteness(of: response) == expected)
    // Everything that selects by it agrees.
    var selection = Selection()
    selection.isPartial = true
    var texts: [Bool] = []
    for text in ["partial = true", "partial = false", "partial != true"] {
      var byCondition = Selection()
      byCondition.conditions = [try Condition(text)]
      texts.append(try byCondition.contains(response, now: try #require(now)))
    }
    let isPartial = expected == .partial
    #expect(try selection.contains(response, now: try #require(now)) == isPartial)
    #expect(texts == [isPartial, !isPartial, !isPartial])
    #expect(!selection.isEmpty)
  }

  @Test func `a body that is missing or of unknown size is not partial`() throws {
    var selection = Selection()
    selection.isPartial = true
    let missing = response(200, "image/png", nil, [Self.length], at: .missing)
    #expect(BodyCompleteness(of: missing) == .whole)
    var undated = response(200, "image/png", 9, [Self.length])
    undated.stored = nil
    #expect(BodyCompleteness(of: undated) == nil)
    for response in [missing, undated, StoredResponse(id: .row(2))] {
      #expect(try !selection.contains(response, now: try #require(now)))
    }
    for text in ["partial = true", "partial = false", "received < 100%", "received >= 100%"] {
      var byCondition = Selection()
      byCondition.conditions = [try Condition(text)]
      #expect(try !byCondition.contains(undated, now: try #require(now)), "\(text)")
    }
  }
}
