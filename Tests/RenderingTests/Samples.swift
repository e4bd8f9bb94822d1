import Administration
import Bytes
import Rendering
import ResponseStorage

/// Sample values for the tests of this module.
enum Samples {
  static let store = StoreDescription(path: "/tmp/Cache.db", format: .apple, schemaVersion: 202)
  static let now = Timestamp(secondsSince1970: 1_767_225_600)

  /// URLs that try to manipulate the output.
  static let hostile: [ByteString] = [
    ByteString("https://a.example/\u{1B}[2J"), ByteString("https://a.example/\r\nX: y"),
    ByteString("https://a.example/\u{202E}gpj"), ByteString("\"\u{301},x"),
    ByteString("=cmd|' /C calc'!A0"), ByteString("a\tb\\c"),
    ByteString("\u{E0041}\u{FEFF}\u{2028}"),
    ByteString("\u{9B}31m\u{AD}\u{200D}é日本"), ByteString([0x61, 0xFF, 0xC0, 0x80]),
    ByteString([0xED, 0xA0, 0x80]), ByteString(" x "), ByteString(""),
  ]

  static func response(_ number: Int64 = 1, url: ByteString) -> StoredResponse {
    var response = StoredResponse(id: .row(number))
    response.url = url
    response.key = url
    response.status = 200
    response.request.method = "GET"
    response.bodySize = 4_300_000
    response.bodyLocation = .file
    response.stored = Timestamp(secondsSince1970: 1_767_225_600 - 12 * 86_400)
    return response
  }

  static func render(
    _ format: ListFormat, _ responses: [StoredResponse], columns: [EntryField]? = nil,
    secrets: SecretPolicy = SecretPolicy(), width: Int? = nil
  ) -> TextBuffer {
    var buffer = TextBuffer()
    guard let now else { return buffer }
    var renderer = format.makeRenderer(
      columns: columns, secrets: secrets,
      context: EntryContext(now: now, expiryRules: UserInfoExpiry.known), store: store,
      terminalWidth: width
    ).renderer
    renderer.begin(into: &buffer)
    for response in responses { renderer.render(response, into: &buffer) }
    let count = Int64(responses.count)
    renderer.finish(
      summary: ListSummary(shown: count, selected: count, total: count, bodyBytes: 0), into: &buffer
    )
    return buffer
  }

  static func text(_ buffer: TextBuffer) -> String {
    ByteString(buffer.bytes).string ?? "not UTF-8"
  }
}
