import Bytes
import HTTPCaching
import ResponseStorage

/// Sample messages: a response that was stored on 9 October 2025, 09:10:07 GMT.
enum Sample {
  /// The time at which it was stored, in seconds since 1970.
  static let stored: Int64 = 1_760_001_007

  static let earlier = "Wed, 08 Oct 2025 09:10:07 GMT"
  static let later = "Thu, 09 Oct 2025 09:10:08 GMT"

  /// Returns a stored response with lines such as `ETag: "a"`.
  static func response(
    _ lines: [String], url: String = "https://a.example/", method: ByteString = "GET",
    request: [String] = [], status: Int64 = 200, bodySize: ByteCount = 1_000
  ) -> StoredResponse {
    var response = StoredResponse(id: .row(1))
    response.url = ByteString(url)
    response.key = response.url
    response.request.url = response.url
    response.request.method = method
    response.request.headers = headers(request)
    response.responseHeaders = headers(lines)
    response.stored = Timestamp(secondsSince1970: Double(stored))
    response.status = status
    response.bodySize = bodySize
    return response
  }

  /// Returns a header section of lines such as `ETag: "a"`.
  static func fields(_ lines: [String]) -> FieldSection {
    FieldSection(
      headers(lines).fields.map { FieldLine(name: $0.name.bytes, value: $0.value.bytes) })
  }

  /// Returns the lines of a header section.
  static func lines(_ fields: FieldSection) -> [String] {
    fields.lines.map { "\(text($0.name)): \(text($0.value))" }
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func headers(_ lines: [String]) -> HeaderFields {
    HeaderFields(
      lines.map { line in
        let parts = line.utf8.split(
          separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        return .init(
          name: ByteString(Array(parts[0])), value: ByteString(Array(parts[1].dropFirst())))
      })
  }
}
