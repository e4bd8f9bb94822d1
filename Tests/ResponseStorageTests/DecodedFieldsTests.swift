import Bytes
import ResponseStorage
import Testing

/// A part of a response can be read if the projection requested it; reading any other part stops a debug build.
@Suite struct DecodedFieldsTests {
  @Test func `a requested part is readable, known or not`() throws {
    let response = try Self.decoded([.url, .storage, .method, .requestDetails])
    #expect(response.decoded == [.url, .storage, .method, .requestDetails])
    #expect(response.url == "https://a.example/")
    #expect(response.storagePolicy == .allowed && response.partition == nil)
    #expect(response.request.method == "GET")
    #expect(response.request.timeoutSeconds != 0 && response.request.body == nil)
  }

  @Test func `any one kind of header fields makes header fields readable`() throws {
    for kind in [Projection.responseHeaders, .cachingFields, .freshnessFields] {
      let response = try Self.decoded([kind, .stored])
      #expect((response.responseHeaders == nil) == (response.freshnessFields != nil))
    }
    #expect(try Self.decoded(.cachingFields).request.headers?.fields.isEmpty ?? true)
  }

  @Test func `all parts of a response without a source are readable`() {
    let response = StoredResponse(id: .row(1))
    #expect(response.decoded == .all)
    #expect(response.url == nil && response.notes == [] && response.request.body == nil)
  }

  @Test func `responses with equal parts are equal, whatever was requested`() throws {
    let response = try Self.decoded([.url, .status])
    var same = StoredResponse(id: .row(1))
    (same.url, same.status) = ("https://a.example/", 200)
    #expect(response == same && response.hashValue == same.hashValue)
    same.request.method = "GET"
    #expect(response != same)
  }

  /// Whether assertions are checked, which they are in all builds that are not optimized.
  private static let asserts: Bool = {
    var isChecked = false
    assert(
      {
        isChecked = true
        return true
      }())
    return isChecked
  }()

  @Test(.enabled(if: asserts, "a release build does not check"))
  func `reading another part of the response stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let response = try DecodedFieldsTests.decoded([.url, .status])
      print(response.mimeType ?? "no media type")
    }
  }

  @Test(.enabled(if: asserts, "a release build does not check"))
  func `reading another part of the request stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let response = try DecodedFieldsTests.decoded([.url, .method])
      print(response.request.url ?? "no URL")
    }
  }

  @Test(.enabled(if: asserts, "a release build does not check"))
  func `reading requested parts does not stop the process`() async {
    await #expect(processExitsWith: .success) {
      let response = try DecodedFieldsTests.decoded([.url, .mimeType, .requestDetails])
      print(response.mimeType ?? "no media type", response.request.url ?? "no URL")
    }
  }

  private static func decoded(_ projection: Projection) throws -> StoredResponse {
    let response = NewResponse(
      url: "https://a.example/", status: 200,
      headers: HeaderFields([.init(name: "Etag", value: "\"a\"")]),
      stored: try #require(Timestamp(secondsSince2001: 100)), body: nil)
    return StoredResponse(decoding: response.raw(id: 1), projection)
  }
}
