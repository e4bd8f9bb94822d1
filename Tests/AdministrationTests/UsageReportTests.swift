import Administration
import ResponseStorage
import Testing

@Suite struct UsageReportTests {
  @Test func `entries and bytes are summed by group, the largest first`() throws {
    let source = MemorySource([
      response(1, "https://b.example/1", status: 200, size: 10),
      response(2, "https://A.example:8080/2", status: 404, size: 30),
      response(3, "https://a.EXAMPLE/3", status: 200, size: 5),
      response(4, nil, status: nil, size: nil),
      response(5, "https://c.example/", status: 200, size: 10),
    ])
    let report = try UsageReport(of: source, by: .host, capacityBytes: 400)
    #expect(report.entries == 5)
    #expect(report.bodyBytes == 55)
    #expect(report.share == 0.25)
    #expect(report.groups.map(\.key) == ["a.example", "b.example", "c.example", nil])
    #expect(report.groups.map(\.entries) == [2, 1, 1, 1])
    #expect(report.groups.map(\.bytes) == [35, 10, 10, 0])

    let byStatus = try UsageReport(of: source, by: .status, capacityBytes: nil)
    #expect(byStatus.groups.map(\.key) == ["404", "200", nil])
    #expect(byStatus.share == nil)
    #expect(try UsageReport(of: source, by: nil, capacityBytes: 0).groups.isEmpty)
  }

  @Test func `only selected entries are counted`() throws {
    let source = MemorySource([
      response(1, "https://a/", status: 200, size: 10),
      response(2, "https://b/", status: 404, size: 30),
    ])
    var selection = Selection()
    selection.statuses = [400...499]
    let now = try #require(Timestamp(secondsSince1970: 0))
    let report = try UsageReport(
      of: source, by: .host, capacityBytes: nil, selection: (selection, now))
    #expect(report.entries == 1)
    #expect(report.groups.map(\.key) == ["b"])
  }

  @Test func `sizes that no sum can hold do not crash it`() throws {
    let source = MemorySource((1...3).map { response($0, nil, status: 200, size: .max) })
    let report = try UsageReport(of: source, by: .status, capacityBytes: nil)
    #expect(report.bodyBytes == .max)
    #expect(report.groups.map(\.bytes) == [.max])
  }

  private func response(_ id: Int64, _ url: ByteString?, status: Int64?, size: Int64?)
    -> StoredResponse
  {
    var response = StoredResponse(id: .row(id))
    response.url = url
    response.status = status
    response.bodySize = size
    return response
  }
}

/// Responses in memory, in files of 100 bytes.
private struct MemorySource: ResponseSource {
  private let responses: [StoredResponse]

  init(_ responses: [StoredResponse]) { self.responses = responses }

  var description: StoreDescription {
    StoreDescription(path: "memory", format: .apple, schemaVersion: nil)
  }

  func forEachResponse(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    for response in responses {
      guard try body(response) == .next else { return }
    }
  }

  func response(_ id: StoredResponse.ID, _ projection: Projection) -> StoredResponse? {
    responses.first { $0.id == id }
  }

  func count() -> Int64 { Int64(responses.count) }

  func withBody(of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void) {}

  func rawPropertyList(_ name: String, of id: StoredResponse.ID) -> [UInt8]? { nil }

  func footprint() -> Footprint {
    var footprint = Footprint()
    footprint.databaseBytes = 100
    return footprint
  }

  func finish() {}
}
