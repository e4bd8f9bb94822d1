import Fetching
import HTTPCaching
import Testing

@Suite struct FrameTests {
  private static let fields = FieldSection([
    FieldLine(name: Array("Accept".utf8), value: Array("*/*".utf8)),
    FieldLine(name: Array("X".utf8), value: [0, 0xFF, 0x0D, 0x0A]),
  ])

  @Test func `frames are complete however the bytes are split`() throws {
    let frames = [
      try #require(Frame(.request, 1, [1, 2, 3])), try #require(Frame(.cancel, .max)),
      try #require(Frame(.body, 2, [UInt8](repeating: 7, count: 300))),
    ]
    let bytes = frames.flatMap(\.bytes)
    for size in 1...40 {
      var reader = FrameReader()
      var seen: [Frame] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        reader.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while let frame = try reader.next() { seen.append(frame) }
      }
      #expect(seen == frames, "\(size)")
      #expect(!reader.isInsideFrame)
    }
  }

  @Test func `invalid frames are violations`() {
    for bytes: [UInt8] in [
      [0x40, 0, 0, 0, 0, 0, 0, 0, 0], [0x42, 0, 0, 0, 0, 0, 0x10, 0, 1],
      [0x42, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
    ] {
      var reader = FrameReader()
      reader.append(bytes)
      #expect(throws: FrameReader.Violation.self) { try reader.next() }
    }
    #expect(Frame(.body, 1, [UInt8](repeating: 0, count: Frame.largestPayload + 1)) == nil)
  }

  @Test(arguments: [0, 1, Frame.largestPayload - 1, Frame.largestPayload, 2 * Frame.largestPayload])
  func `the last of the frames of a text is a short one`(count: Int) throws {
    let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    var reader = FrameReader()
    reader.append(Frame.bytes(.done, 1, pieces: text)[...])
    var frames: [Frame] = []
    while let frame = try reader.next() { frames.append(frame) }
    #expect(frames.flatMap(\.payload) == text)
    #expect(
      frames.map { $0.payload.count < Frame.largestPayload }
        == frames.indices.map { $0 == frames.count - 1 })
  }

  @Test func `the largest payload is accepted`() throws {
    let frame = try #require(Frame(.body, 1, [UInt8](repeating: 7, count: Frame.largestPayload)))
    var reader = FrameReader()
    reader.append(frame.bytes)
    #expect(try reader.next() == frame)
    #expect(!reader.isInsideFrame)
  }

  @Test func `an incomplete frame at the end is detected`() throws {
    var reader = FrameReader()
    reader.append(try #require(Frame(.body, 1, [1, 2])).bytes.dropLast())
    #expect(try reader.next() == nil)
    #expect(reader.isInsideFrame)
  }

  @Test func `payloads are decoded as they were encoded`() {
    for limit: Int64? in [nil, 0, .max] {
      for redirects in FetchRequest.Redirects.allCases {
        let request = FetchRequest(
          method: Request.head, url: [0x68, 0xFF, 0x0A], fields: Self.fields,
          timeoutMilliseconds: .max, bodyLimit: limit, redirects: redirects)
        #expect(FetchRequest(payload: request.payload) == request)
      }
    }
    let head = FetchHead(status: 304, url: [], fields: Self.fields)
    #expect(FetchHead(payload: head.payload) == head)
    for kind in FetchFailure.Kind.allCases {
      let failure = FetchFailure(kind, "what happened")
      #expect(FetchFailure(payload: failure.payload) == failure)
    }
  }

  @Test
  func `truncated or modified payloads never trap`() {
    let payloads = [
      FetchRequest(url: Array("http://a/".utf8), fields: Self.fields).payload,
      FetchHead(status: 200, url: [1], fields: Self.fields).payload,
      FetchFailure(.timeout, "x").payload,
    ]
    for payload in payloads {
      for end in 0..<payload.count {
        let cut = Array(payload[..<end])
        // The payload may only end between two fields.
        let isBetween = [
          FetchRequest(payload: cut)?.fields.lines.count,
          FetchHead(payload: cut)?.fields.lines.count,
        ].compactMap { $0 }
        #expect(isBetween.allSatisfy { $0 < 2 })
        for bit in 0..<8 {
          var changed = payload
          changed[end] ^= 1 << bit
          _ = FetchRequest(payload: changed)
          _ = FetchHead(payload: changed)
          _ = FetchFailure(payload: changed)
        }
      }
    }
    #expect(
      FetchHead(payload: FetchHead(status: 99, url: [], fields: FieldSection()).payload) == nil)
  }
}
