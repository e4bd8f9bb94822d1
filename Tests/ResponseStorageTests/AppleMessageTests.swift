import Bytes
import Foundation
import PropertyLists
import ResponseStorage
import Testing

/// Reads archived messages with Python's `plistlib`, which is independent of the writer.
@Suite struct AppleMessageTests {
  @Test func `a response has seven elements`() throws {
    let response = AppleMessage.Response(
      url: "https://a.example/x", stored: try moment(100.25), status: 200, headers: headers,
      expectedLength: 12, mimeType: "text/plain")
    #expect(
      try decoded(response.propertyList) == """
        {'Array': [{'_CFURLString': 'https://a.example/x', '_CFURLStringType': 15}, \
        100.25, 0, 200, {'Etag': '"1"', 'Via': '1.1 a, 1.1 b', '__hhaa__': \
        {'Etag': ['"1"'], 'Via': ['1.1 a', '1.1 b']}}, 12, 'text/plain'], 'Version': 1}

        """)
  }

  @Test func `missing elements of a response are null tokens`() throws {
    let response = AppleMessage.Response(
      url: "https://a.example/x", stored: try moment(100), status: 404, headers: HeaderFields())
    #expect(
      try decoded(response.propertyList) == """
        {'Array': [{'_CFURLString': 'https://a.example/x', '_CFURLStringType': 15}, \
        100.0, 0, 404, {'__hhaa__': {}}, '__CFURLResponseNullTokenString__', \
        '__CFURLResponseNullTokenString__'], 'Version': 1}

        """)
  }

  @Test func `a redirect can end after its header fields`() throws {
    let response = AppleMessage.Response(
      url: "https://a.example/x", stored: try moment(0), status: 301, headers: HeaderFields(),
      endsAfterHeaders: true)
    #expect(
      try decoded(response.propertyList) == """
        {'Array': [{'_CFURLString': 'https://a.example/x', '_CFURLStringType': 15}, \
        0.0, 0, 301, {'__hhaa__': {}}], 'Version': 1}

        """)
  }

  @Test func `a request has 22 elements`() throws {
    let request = AppleMessage.Request(
      url: "https://a.example/x", method: "POST",
      headers: HeaderFields([.init(name: "Accept", value: "*/*")]), cachePolicy: 1,
      timeoutSeconds: 30, mainDocumentURL: "https://a.example/", bodyParts: [[0x68, 0x69]])
    let null = "'__CFURLRequestNullTokenString__'"
    #expect(
      try decoded(request.propertyList) == """
        {'Array': [False, {'_CFURLString': 'https://a.example/x', '_CFURLStringType': 15}, \
        30.0, 1, {'_CFURLString': 'https://a.example/', '_CFURLStringType': 15}, True, 388, \
        \(null), \(null), True, False, 0, 0.0, 0.0, 0, -1, \(null), 2, 'POST', \
        {'Accept': '*/*', '__hhaa__': {'Accept': ['*/*']}}, \(null), [b'hi']], 'Version': 9}

        """)
  }

  @Test func `header field arrays are encoded as in Apple caches`() throws {
    guard case .dictionary(let entries) = AppleMessage.archivedHeaders(headers),
      case .string(let text)? = entries.last?.value
    else {
      Issue.record("no dictionary that ends with a string")
      return
    }
    #expect(text.starts(with: Array("\r\n\r\nYnBsaXN0MD".utf8)))
    #expect(text.count % 4 == 0 && !text.dropFirst(4).contains(0x0A))
  }

  @Test func `a Vary record contains the nominated fields that were sent`() {
    let request = HeaderFields([
      .init(name: "accept", value: "*/*"), .init(name: "Cookie", value: "a=b"),
    ])
    let record = AppleMessage.varyRecord("Accept,  User-Agent, Cookie", of: request)
    #expect(record.key == Array("Accept,  User-Agent, Cookie".utf8))
    #expect(
      record.value
        == .dictionary([
          .init(key: Array("Accept".utf8), value: .string(Array("*/*".utf8))),
          .init(key: Array("Cookie".utf8), value: .string(Array("a=b".utf8))),
        ]))
  }

  private var headers: HeaderFields {
    HeaderFields([
      .init(name: "Via", value: "1.1 a"), .init(name: "ETag", value: #""1""#),
      .init(name: "via", value: "1.1 b"),
    ])
  }

  private func moment(_ seconds: Double) throws -> Timestamp {
    try #require(Timestamp(secondsSince2001: seconds))
  }

  /// Returns the contents as Python reads them, with sorted keys and decoded header field arrays.
  private func decoded(_ value: PropertyListValue) throws -> String {
    let folder = try Folder()
    let file = "\(folder.path)/list"
    try Data(PropertyListWriter().bytes(of: value)).write(to: URL(filePath: file))
    let script = """
      import base64, plistlib, sys
      def ordered(value):
          if isinstance(value, list): return [ordered(item) for item in value]
          if not isinstance(value, dict): return value
          return {key: ordered(plistlib.loads(base64.b64decode(value[key]))
                  if key == '__hhaa__' else value[key]) for key in sorted(value)}
      print(ordered(plistlib.load(open(sys.argv[1], 'rb'))))
      """
    return try Tool.output("python3", "-c", script, file)
  }
}
