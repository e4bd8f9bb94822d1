import Bytes
import HTTPCaching
import PropertyLists
import Testing

@testable import ResponseStorage

/// Tests that decoding only the fields for freshness gives the same values as decoding all fields.
@Suite struct AppleFieldSelectionTests {
  @Test func `only the selected fields are decoded`() throws {
    let headers = HeaderFields(
      [
        ("Age", "1"), ("Via", "1.1 a"), ("cache-control", "no-cache"), ("X-Cache", "HIT"),
        ("Date", "x"), ("Link", "y"), ("Last-Modified", "z"), ("Accept-Ranges", "bytes"),
      ].map { HeaderFields.Field(name: ByteString($0.0), value: ByteString($0.1)) })
    let found = try decoded(headers, .cachingFields).responseHeaders
    #expect(
      found?.fields.map { "\($0.name.string ?? ""): \($0.value.string ?? "")" }.sorted()
        == ["Age: 1", "Date: x", "Last-Modified: z", "cache-control: no-cache"])
  }

  @Test func `only the fields of the content are decoded, unless others are wanted`() throws {
    func names(_ fields: [(String, String)], _ projection: Projection) throws -> [String] {
      let headers = HeaderFields(
        fields.map { .init(name: ByteString($0.0), value: ByteString($0.1)) })
      return try decoded(headers, projection).responseHeaders?.fields.map {
        "\($0.name.string ?? ""): \($0.value.string ?? "")"
      }.sorted() ?? []
    }
    let fields = [("content-TYPE", "text/html"), ("Via", "a"), ("Content-Encoding", "br")]
    let all = fields.map { "\($0.0): \($0.1)" }.sorted()
    #expect(
      try names(fields, .contentFields) == ["Content-Encoding: br", "content-TYPE: text/html"])
    for other in [Projection.cachingFields, .freshnessFields, .responseHeaders] {
      #expect(try names(fields, other.union(.contentFields)) == all)
    }
    let twice = [("Content-Type", "text/html"), ("Content-Type", "text/css"), ("Via", "a")]
    #expect(
      try names(twice, .contentFields).prefix(2) == [
        "Content-Type: text/css", "Content-Type: text/html",
      ])
  }

  @Test func `repeated fields are distinguished where it matters`() throws {
    let day = "Thu, 09 Oct 2025 09:10:07 GMT"
    let expected: [(name: String, values: [String], found: [String])] = [
      ("Date", [day, day], [day, day]), ("Expires", ["0", "-1"], ["0", "-1"]),
      ("Etag", ["\"a\"", "\"b\""], ["\"a\"", "\"b\""]), ("Age", ["1", "2"], ["1", "2"]),
      ("Cache-Control", ["public", "max-age=5"], ["public, max-age=5"]),
      ("Cache-Control", ["private=\"a", "max-age=5"], ["private=\"a", "max-age=5"]),
      ("Date", [day], [day]),
    ]
    for (name, values, found) in expected {
      let headers = HeaderFields(
        values.map { .init(name: ByteString(name), value: ByteString($0)) })
      #expect(
        try decoded(headers, .cachingFields).responseHeaders?.fields.map(\.value.string) == found,
        "\(name)")
    }
  }

  @Test(
    arguments: [
      ([], true), ([("Age", "5")], true), ([("Cache-Control", "max-age=5, private")], true),
      ([("Cache-Control", "max-age=5, No-Store")], false),
      ([("cache-control", #"private="a, no-cache"#)], false), ([("Cache-Control", "no-")], false),
      ([("Cache-Control", "no")], true), ([("Pragma", "no-cache")], true),
      ([("Content-Length", "7")], true), ([("content-LENGTH", "007")], true),
      ([("Content-Length", "6")], false), ([("Content-Length", "8")], false),
      ([("Content-Length", "")], false), ([("Content-Length", "7 ")], false),
      ([("Content-Length", "7"), ("Content-Length", "7")], false),
      ([("Content-Length", "1000000000000000000007")], false),
      ([("Content-Length", "8"), ("Content-Encoding", "gzip")], true),
      ([("Content-Encoding", "gzip"), ("Content-Length", "8")], true),
      ([("X-Name", "t\u{E4}xt")], false), ([("X-N\u{E4}me", "text")], false),
      ([("X-Name", "a\tb")], false), ([("Via", "a"), ("Via", "b")], true),
      ([("Cache-Control", "private"), ("Cache-Control", "no-store")], false),
    ] as [([(String, String)], Bool)])
  func `header fields without a finding are left out`(_ fields: [(String, String)], _ passes: Bool)
    throws
  {
    let headers = HeaderFields(
      fields.map { .init(name: ByteString($0.0), value: ByteString($0.1)) })
    let full = try screened(headers, .all, bodyLength: 7)
    for (projection, bodyLength, status, passes) in [
      (Self.screened, 7, 200, passes), (Self.screened, 7, 206, false),
      // A length that is not known cannot be compared.
      (
        Self.screened, nil, 200,
        passes && (!fields.contains { $0.0.lowercased() == "content-length" } || fields.count == 2)
      ),
      // Something else needs the fields.
      (Self.screened.union(.cachingFields), 7, 200, false),
      (Self.screened.union(.freshnessFields), 7, 200, false),
      (Self.screened.union(.responseHeaders), 7, 200, false),
    ] as [(Projection, Int64?, Int64, Bool)] {
      let response = try screened(headers, projection, bodyLength: bodyLength, status: status)
      let isSelection = projection == Self.screened && isPrintable(headers)
      let expected = isSelection ? try screened(headers, .cachingFields, bodyLength: 7) : full
      #expect(
        response.responseHeaders == (passes ? HeaderFields() : expected.responseHeaders),
        "\(fields) \(String(describing: bodyLength)) \(status)")
      #expect(response.notes == full.notes)
    }
  }

  private func isPrintable(_ headers: HeaderFields) -> Bool {
    headers.fields.allSatisfy { field in
      (field.name.bytes + field.value.bytes).allSatisfy { 0x20...0x7E ~= $0 }
    }
  }

  @Test func `fields that are damaged or no text are decoded`() throws {
    let headers = HeaderFields([.init(name: "Age", value: "5")])
    let response = AppleMessage.Response(
      url: "https://a.example/", stored: try #require(Timestamp(secondsSince2001: 100)),
      status: 200, headers: headers)
    let bad: [PropertyListValue] = [
      .string(Array("5".utf8)), .array([]),
      .dictionary([.init(key: Array("Age".utf8), value: .integer(5))]),
    ]
    for fields in bad {
      let list = PropertyListWriter().bytes(of: response.propertyList(archivedHeaders: fields))
      var memory = StoredResponse.SpareMemory()
      var (one, other) = (StoredResponse(id: .row(1)), StoredResponse(id: .row(1)))
      try one.decodeResponseObject(list.span, Self.screened, bodyLength: 7, reusing: &memory)
      try other.decodeResponseObject(list.span, .all, reusing: &memory)
      #expect(one == other, "\(fields)")
    }
    // Any changed byte has the same notes and errors as when all fields are decoded.
    let whole = PropertyListWriter().bytes(of: response.propertyList)
    for place in whole.indices {
      for bits in [0x01, 0x80, 0xFF] as [UInt8] {
        var list = whole
        list[place] ^= bits
        var errors: [String] = []
        var found: [StoredResponse] = []
        for projection in [Self.screened, .all] {
          var memory = StoredResponse.SpareMemory()
          var response = StoredResponse(id: .row(1))
          do {
            try response.decodeResponseObject(
              list.span, projection, bodyLength: 7, reusing: &memory)
            errors.append("")
          } catch { errors.append("\(error)") }
          found.append(response)
        }
        #expect(errors[0] == errors[1] && found[0].notes == found[1].notes, "\(place) \(bits)")
        let isLeftOut = found[0].responseHeaders == HeaderFields()
        if !isLeftOut { #expect(found[0] == found[1], "\(place) \(bits)") }
      }
    }
  }

  @Test func `the fields of a request are left out too`() throws {
    for (value, passes) in [("max-age=0", true), ("No-Store", false), ("\u{E4}", false)] {
      let headers = HeaderFields([
        .init(name: "Content-Length", value: "9"),
        .init(name: "Cache-Control", value: ByteString(value)),
      ])
      let request = AppleMessage.Request(url: "https://a.example/", headers: headers)
      let list = PropertyListWriter().bytes(of: request.propertyList)
      for (projection, passes) in [
        (Self.screened, passes), (Self.screened.union(.requestHeaders), false),
      ] {
        var (one, other) = (StoredResponse(id: .row(1)), StoredResponse(id: .row(1)))
        var memory = StoredResponse.SpareMemory()
        try one.decodeRequestObject(list.span, projection, reusing: &memory)
        try other.decodeRequestObject(list.span, .all, reusing: &memory)
        var selected = StoredResponse(id: .row(1))
        try selected.decodeRequestObject(list.span, .cachingFields, reusing: &memory)
        let isSelection = projection == Self.screened && isPrintable(headers)
        let expected = isSelection ? selected : other
        #expect(
          one.request.headers == (passes ? HeaderFields() : expected.request.headers), "\(value)")
        #expect(one.notes == other.notes)
      }
    }
  }

  /// What a check decodes.
  private static let screened = Projection.all.subtracting([
    .responseHeaders, .freshnessFields, .cachingFields, .requestHeaders,
  ]).union([.consistency, .screenedFields])

  private func screened(
    _ headers: HeaderFields, _ projection: Projection, bodyLength: Int64?, status: Int64 = 200
  ) throws -> StoredResponse {
    let response = AppleMessage.Response(
      url: "https://a.example/", stored: try #require(Timestamp(secondsSince2001: 100)),
      status: status, headers: headers)
    let list = PropertyListWriter().bytes(of: response.propertyList)
    var (result, memory) = (StoredResponse(id: .row(1)), StoredResponse.SpareMemory())
    try result.decodeResponseObject(
      list.span, projection, bodyLength: bodyLength, reusing: &memory)
    return result
  }

  @Test func `freshness and validators equal those from all fields`() throws {
    var found: Set<FreshnessLifetime.Source> = []
    for seed in 0..<3_000 as Range<UInt64> {
      let headers = made(seed)
      let all = try #require(try decoded(headers, .all).responseHeaders)
      let response = try decoded(headers, [.stored, .freshnessFields])
      #expect(response.responseHeaders == nil)
      let fields = try #require(response.freshnessFields)
      let exchange = exchange(all)
      #expect(fields == exchange.freshnessFields, "seed \(seed)")
      let freshness = Freshness(of: fields, status: 200, at: 1_760_000_500)
      #expect(freshness == Freshness(of: exchange, at: 1_760_000_500), "seed \(seed)")
      let validators = Validators(of: exchange)
      #expect(
        fields.entityTagStrength == validators.entityTag.map { $0.isStrong ? .strong : .weak },
        "seed \(seed)")
      #expect(
        fields.lastModifiedStrength
          == validators.lastModified.map { $0.isStrong ? .strong : .weak }, "seed \(seed)")
      found.insert(freshness.lifetime.source)
    }
    #expect(found == Set(FreshnessLifetime.Source.allCases))
  }

  @Test func `the result for damaged entries does not depend on the selection`() throws {
    var damaged = 0
    for seed in 0..<6_000 as Range<UInt64> {
      var bytes = try archived(made(seed % 300))
      var random = Seeded(state: seed)
      bytes[Int.random(in: 8..<bytes.count, using: &random)] ^= UInt8.random(
        in: 1...255, using: &random)
      let all = decoded(bytes, .all)
      for part in [Projection.url, .stored, .status, .mimeType, [.stored, .freshnessFields]] {
        let some = decoded(bytes, part)
        if part.contains(.url) { #expect(some.url == all.url, "seed \(seed)") }
        if part.contains(.stored) { #expect(some.stored == all.stored, "seed \(seed)") }
        if part.contains(.status) { #expect(some.status == all.status, "seed \(seed)") }
        if part.contains(.mimeType) { #expect(some.mimeType == all.mimeType, "seed \(seed)") }
        guard part.contains(.freshnessFields), let stored = all.stored else { continue }
        let fields = all.responseHeaders.map {
          FreshnessFields(FieldSection($0), receivedAt: stored.wholeSeconds)
        }
        #expect(some.freshnessFields == fields, "seed \(seed)")
      }
      if all.notes.contains(where: { $0.code == .undecodable }) { damaged += 1 }
    }
    #expect(damaged > 500)
  }

  @Test func `a part of the wrong type is noted, and does not affect others`() throws {
    var message = AppleMessage.Response(
      url: "https://a.example/", stored: try #require(Timestamp(secondsSince1970: 0)), status: 200,
      headers: HeaderFields([]), mimeType: "text/html"
    ).propertyList
    message.replaceElements { elements in
      (elements[3], elements[4], elements[6]) = (.text("200"), .array([]), .integer(5))
    }
    let response = decoded(PropertyListWriter().bytes(of: message), .all)
    #expect(response.url == "https://a.example/")
    #expect(
      response.notes.map(\.message) == [
        "the status is not an integer", "the header fields are not a dictionary",
        "the media type is not a string",
      ])
    #expect(response.notes.allSatisfy { $0.code == .wrongType })
  }

  @Test func `texts that are not UTF-8 are noted`() throws {
    var message = AppleMessage.Response(
      url: "https://a.example/~~", stored: try #require(Timestamp(secondsSince1970: 0)),
      status: 200, headers: HeaderFields([]), mimeType: "text/~~"
    ).propertyList
    let headers = HeaderFields([
      .init(name: "X-~~", value: "x"), .init(name: "X-Value", value: "~~ x"),
    ])
    message.replaceElements { elements in
      elements[4] = AppleMessage.archivedHeaders(headers, withArrays: false)
    }
    // The writer never creates such strings. Single-byte strings can contain any byte.
    var bytes = PropertyListWriter().bytes(of: message)
    for index in bytes.indices.dropLast() where bytes[index] == 0x7E && bytes[index + 1] == 0x7E {
      (bytes[index], bytes[index + 1]) = (0xC3, 0x28)
    }
    let response = decoded(bytes, .all)
    #expect(response.url?.bytes == Array("https://a.example/".utf8) + [0xC3, 0x28])
    #expect(
      response.notes.map(\.message) == [
        "the URL of the response is not UTF-8", "its media type is not UTF-8",
        "the name of a header field of the response is not UTF-8",
        "a header field of the response is not UTF-8",
      ])
    #expect(response.notes.allSatisfy { $0.code == .notUTF8 })
    #expect(decoded(bytes, [.url, .mimeType]).notes.isEmpty)
  }

  @Test func `a value that is not ASCII does not affect others`() throws {
    let headers = HeaderFields([
      .init(name: "Expires", value: "mañana"), .init(name: "Age", value: "7"),
      .init(name: "X-Ñ", value: "x"),
    ])
    let fields = try decoded(headers, [.stored, .freshnessFields]).freshnessFields
    #expect(fields?.expires == .invalid(Array("mañana".utf8)))
    #expect(fields?.age == .seconds(7))
  }

  @Test func `the request fields that the response varies by are decoded`() throws {
    let request = AppleMessage.Request(
      url: "https://a.example/",
      headers: HeaderFields(
        [
          ("Accept", "a"), ("X-One", "1"), ("Authorization", "b"), ("User-Agent", "c"),
          ("x-two", "2"), ("Cookie", "d"),
        ].map { HeaderFields.Field(name: ByteString($0.0), value: ByteString($0.1)) }))
    let bytes = PropertyListWriter().bytes(of: request.propertyList)
    for (vary, names) in [
      (nil, ["Authorization", "Cookie"]),
      ("x-one, X-TWO", ["Authorization", "Cookie", "X-One", "x-two"]),
      ("*", ["Authorization", "Cookie"]),
    ] as [(String?, [String])] {
      var response = StoredResponse(id: .row(1))
      response.responseHeaders = HeaderFields(
        vary.map { [.init(name: "vary", value: ByteString($0))] } ?? [])
      var memory = StoredResponse.SpareMemory()
      try response.decodeRequestObject(bytes.span, .cachingFields, reusing: &memory)
      #expect(response.request.headers?.fields.compactMap(\.name.string).sorted() == names)
    }
  }

  @Test func `caching decisions equal those from all fields`() throws {
    for seed in 0..<3_000 as Range<UInt64> {
      let headers = made(seed)
      let first = exchange(try #require(try decoded(headers, .all).responseHeaders))
      let second = exchange(try #require(try decoded(headers, .cachingFields).responseHeaders))
      let now: Int64 = 1_760_000_500
      #expect(
        Reuse(of: first, for: Request(), at: now) == Reuse(of: second, for: Request(), at: now),
        "seed \(seed)")
      #expect(FieldFinding.all(about: first) == FieldFinding.all(about: second), "seed \(seed)")
      #expect(Storability(of: first) == Storability(of: second), "seed \(seed)")
      #expect(Vary(first.fields) == Vary(second.fields), "seed \(seed)")
    }
  }

  /// Returns up to two lines for each of some fields.
  private func made(_ seed: UInt64) -> HeaderFields {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    func below(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    let dates = [
      "Thu, 09 Oct 2025 08:53:20 GMT", "Thursday, 09-Oct-25 08:00:00 GMT",
      "Wed Oct  8 08:00:00 2025", "0", "",
    ]
    let pools: [(String, [String])] = [
      ("Age", ["0", "5", "x", "7, 9", ""]), ("Date", dates), ("expires", dates),
      ("Last-Modified", dates), ("Etag", ["\"a\"", "W/\"b,c\"", "bare", ""]),
      (
        "Cache-Control",
        ["max-age=60", "no-cache=\"a, b\"", "s-maxage=9", "public", "max-age=x", "foo=\"bar"]
      ),
      ("Via", ["1.1 a, 1.1 b"]), ("Accept-Ranges", ["bytes"]),
      ("Vary", ["Accept", "Accept-Language, Cookie", "*"]), ("Pragma", ["no-cache", "x"]),
      ("Content-Length", ["5", "6, 7"]), ("Content-Encoding", ["gzip"]),
    ]
    var fields: [HeaderFields.Field] = []
    for (name, values) in pools {
      for _ in 0..<[0, 0, 1, 1, 2][below(5)] {
        fields.append(.init(name: ByteString(name), value: ByteString(values[below(values.count)])))
      }
    }
    return HeaderFields(fields)
  }

  private func exchange(_ headers: HeaderFields) -> Exchange {
    Exchange(
      status: 200,
      fields: FieldSection(
        headers.fields.map { FieldLine(name: $0.name.bytes, value: $0.value.bytes) }),
      responseTime: 1_760_000_000)
  }

  private func decoded(
    _ headers: HeaderFields, _ projection: Projection
  ) throws -> StoredResponse {
    decoded(try archived(headers), projection)
  }

  private func decoded(_ bytes: [UInt8], _ projection: Projection) -> StoredResponse {
    var response = StoredResponse(id: .row(1))
    var memory = StoredResponse.SpareMemory()
    do {
      try response.decodeResponseObject(bytes.span, projection, reusing: &memory)
    } catch {
      response.notes.append(.init(.undecodable, "\(error)"))
    }
    return response
  }

  private func archived(_ headers: HeaderFields) throws -> [UInt8] {
    let archived = AppleMessage.Response(
      url: "https://a.example/", stored: try #require(Timestamp(secondsSince1970: 1_760_000_000)),
      status: 200, headers: headers, mimeType: "text/html")
    return PropertyListWriter().bytes(of: archived.propertyList)
  }
}

/// A random number generator that depends only on its seed.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}

extension PropertyListValue {
  /// Changes the elements of an archived message.
  mutating func replaceElements(_ body: (inout [PropertyListValue]) -> Void) {
    guard case .dictionary(var entries) = self,
      let place = entries.firstIndex(where: { $0.key == Array("Array".utf8) }),
      case .array(var elements) = entries[place].value
    else { return }
    body(&elements)
    entries[place].value = .array(elements)
    self = .dictionary(entries)
  }
}
