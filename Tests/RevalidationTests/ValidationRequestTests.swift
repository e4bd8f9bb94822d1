import Bytes
import Fetching
import HTTPCaching
import ResponseStorage
import Revalidation
import Testing

@Suite struct ValidationRequestTests {
  private static let tag = "ETag: W/\"a\""
  private static let date = "Last-Modified: \(Sample.earlier)"

  private func sent(
    _ response: StoredResponse, _ rules: ValidationRules = ValidationRules()
  ) throws -> FetchRequest {
    try ValidationRequest(for: response, by: rules).request.get()
  }

  @Test func `all validators are sent as they were received`() throws {
    let request = ValidationRequest(
      for: Sample.response([Self.tag, Self.date]), by: ValidationRules())
    let fields = try request.request.get().fields
    #expect(
      Sample.lines(fields) == ["If-None-Match: W/\"a\"", "If-Modified-Since: \(Sample.earlier)"])
    #expect(request.sent == [.entityTag, .lastModified])
    #expect(request.host == "a.example")
  }

  @Test(
    arguments: [
      (.auto, [.entityTag, .lastModified]), (.entityTag, [.entityTag]),
      (.lastModified, [.lastModified]),
    ] as [(ValidationRules.SentValidator, Set<ValidatorComparison.Decider>)])
  func `only the chosen validator is sent`(
    _ choice: ValidationRules.SentValidator, _ sent: Set<ValidatorComparison.Decider>
  ) {
    var rules = ValidationRules()
    rules.sentValidator = choice
    let both = ValidationRequest(for: Sample.response([Self.tag, Self.date]), by: rules)
    #expect(both.sent == sent)
    let tagged = ValidationRequest(for: Sample.response([Self.tag]), by: rules)
    #expect(tagged.skipReason == (choice == .lastModified ? .noValidator : nil))
  }

  @Test(
    arguments: [
      ("file:///a", .url), ("ftp://a/", .url), ("https:///a", .url), ("a", .url), ("", .url),
      ("HTTPS://a/", nil), ("http://[::1]:80/", nil),
    ] as [(String, ValidationRequest.SkipReason?)])
  func `only http and https are asked`(_ url: String, _ skipReason: ValidationRequest.SkipReason?) {
    let response = Sample.response([Self.tag], url: url)
    #expect(ValidationRequest(for: response, by: ValidationRules()).skipReason == skipReason)
  }

  @Test(arguments: ["POST", "PUT", "get", ""] as [ByteString])
  func `only GET and HEAD are sent again`(_ method: ByteString) {
    let response = Sample.response([Self.tag], method: method)
    #expect(ValidationRequest(for: response, by: ValidationRules()).skipReason == .method)
  }

  @Test func `the rest of a body is requested with a strong validator`() throws {
    let part = Sample.response(["ETag: \"a\"", Self.date, "Content-Length: 1001"])
    let request = ValidationRequest(for: part, by: ValidationRules())
    #expect(
      Sample.lines(try request.request.get().fields)
        == ["Range: bytes=1000-", "If-Range: \"a\""])
    #expect(request.sent == [.entityTag])
    #expect(request.asksForRest)
    var rules = ValidationRules()
    rules.sentValidator = .lastModified
    #expect(ValidationRequest(for: part, by: rules).skipReason == .noValidator)
  }

  @Test func `entries that cannot be validated are not requested`() {
    let rules = ValidationRules()
    let part = Sample.response(["ETag: W/\"a\"", "Content-Length: 1001"])
    #expect(ValidationRequest(for: part, by: rules).skipReason == .incompleteBody)
    #expect(ValidationRequest(for: Sample.response([]), by: rules).skipReason == .noValidator)
    var response = Sample.response([Self.tag])
    response.responseHeaders = nil
    #expect(ValidationRequest(for: response, by: rules).skipReason == .undecodable)
  }

  @Test func `entries without a validator are requested whole if bodies are wanted`() throws {
    var rules = ValidationRules()
    rules.bodyLimit = 1
    for lines in [[], ["ETag: W/\"a\"", "Content-Length: 1001"], ["Vary: X"]] {
      let request = ValidationRequest(for: Sample.response(lines, request: ["X: 1"]), by: rules)
      let fields = Sample.lines(try request.request.get().fields)
      #expect(fields == (lines == ["Vary: X"] ? ["X: 1"] : []), "\(lines)")
      #expect(request.sent.isEmpty)
    }
    rules.sentValidator = .lastModified
    let tagged = ValidationRequest(for: Sample.response([Self.tag]), by: rules)
    #expect(tagged.skipReason == .noValidator)
  }

  @Test func `credentials are sent only on request`() throws {
    let response = Sample.response(
      [Self.tag, "Vary: Cookie, Accept, X-Api-Key"], url: "https://u:p@a.example/#x",
      request: [
        "Cookie: a=b", "Authorization: x", "Accept: z", "B: c", "X-API-Key: k",
        "X-Other: Bearer abcdef",
      ])
    let request = ValidationRequest(for: response, by: ValidationRules())
    #expect(request.skipReason == .needsCredentials)
    #expect(request.credentials == .withheld)
    var rules = ValidationRules()
    rules.sendsCredentials = true
    rules.followsRedirects = true
    let full = try sent(response, rules)
    #expect(
      Sample.lines(full.fields) == [
        "Accept: z", "Cookie: a=b", "Authorization: x", "X-API-Key: k",
        "X-Other: Bearer abcdef", "If-None-Match: W/\"a\"",
      ])
    #expect(Sample.text(full.url) == "https://u:p@a.example/")
    // The target of a redirect does not contain those of the URL.
    #expect(full.redirects == .none)
    #expect(ValidationRequest(for: response, by: rules).credentials == .sent)
  }

  @Test func `an entry with credentials is only requested with all of them`() throws {
    let secrets = [
      "Cookie: a", "cookie: a", "Authorization: a", "X-Api-Key: a", "X-Session-Token: a",
      "X-Original-Authorization: a", "X-A: Basic YTpi", "Accept: eyJhbGciOiJub25lIn0.e.x",
    ]
    for secret in secrets {
      let response = Sample.response([Self.tag], request: ["Accept-Language: en", secret])
      var rules = ValidationRules()
      rules.followsRedirects = true
      for limit: ByteCount? in [nil, 1] {
        rules.bodyLimit = limit
        let request = ValidationRequest(for: response, by: rules)
        #expect(request.skipReason == .needsCredentials, "\(secret)")
        #expect(
          ValidationResult(request, notAskedFor: .needsCredentials).outcome == .needsCredentials)
      }
      rules.sendsCredentials = true
      let request = try sent(response, rules)
      #expect(Sample.lines(request.fields) == [secret, "If-None-Match: W/\"a\""])
      #expect(request.redirects == .sameOrigin)
    }
    for plain in ["Accept: a", "If-None-Match: eyJhbGciOiJub25lIn0.e.x", "X-Key-Count: 1"] {
      let response = Sample.response([Self.tag], request: [plain])
      var rules = ValidationRules()
      rules.followsRedirects = true
      let request = ValidationRequest(for: response, by: rules)
      #expect(request.credentials == .none, "\(plain)")
      #expect(try request.request.get().redirects == .any)
    }
  }

  @Test func `credentials that are never sent decide nothing`() {
    for secret in ["Proxy-Authorization: a", "Cookie: a\nb", "Cookie : a"] {
      for sends in [false, true] {
        var rules = ValidationRules()
        rules.sendsCredentials = sends
        let request = ValidationRequest(
          for: Sample.response([Self.tag], request: [secret, "Cookie: b"]), by: rules)
        #expect(request.credentials == .unsendable, "\(secret)")
        #expect(request.skipReason == .unsendableCredentials, "\(secret)")
      }
    }
    // What cannot be validated with credentials either is reported as such.
    let post = Sample.response([Self.tag], method: "POST", request: ["Cookie: a"])
    #expect(ValidationRequest(for: post, by: ValidationRules()).skipReason == .method)
    let bare = Sample.response([], request: ["Cookie: a"])
    #expect(ValidationRequest(for: bare, by: ValidationRules()).skipReason == .noValidator)
  }

  @Test func `an entry is not removed if its credentials are unknown`() {
    var changes = RevalidationPlan.Changes()
    (changes.removesChanged, changes.removesGone) = (true, true)
    var damaged = Sample.response([Self.tag])
    damaged.request.headers = nil
    var varying = Sample.response([Self.tag, "Vary: Accept, Cookie"])
    var file = Sample.response([Self.tag, "Vary: Accept"])
    (varying.id, file.id) = (.file("a"), .file("b"))
    (varying.request.headers, file.request.headers) = (nil, nil)
    for (response, isUnknown) in [(damaged, true), (varying, true), (file, false)] {
      let request = ValidationRequest(for: response, by: ValidationRules())
      #expect(request.credentials == (isUnknown ? .unknown : .none))
      for status: Int64 in [404, 410, 200] {
        let head = FetchHead(status: status, url: [], fields: Sample.fields(["ETag: \"b\""]))
        let entry = RevalidationPlan.Entry(
          ValidationResult(
            request, ValidationResponse(head: head, requestTime: 0, responseTime: 0)),
          making: changes)
        #expect(entry.action == (isUnknown ? .none : .remove))
        #expect(entry.skipReason == (isUnknown ? .credentialsUnknown : nil))
      }
    }
  }

  @Test func `only what can be written anew is refreshed`() {
    var changes = RevalidationPlan.Changes()
    (changes.refreshes, changes.allowsEmpty) = (true, true)
    var keyless = Sample.response([Self.tag])
    keyless.key = nil
    var bare = Sample.response([Self.tag])
    bare.status = nil
    for (response, status, skipReason): (StoredResponse, Int64, RevalidationPlan.SkipReason?) in [
      (keyless, 304, .incompleteEntry), (keyless, 200, .incompleteEntry),
      (bare, 304, .incompleteEntry), (bare, 200, nil), (Sample.response([Self.tag]), 304, nil),
    ] {
      var rules = ValidationRules()
      rules.bodyLimit = 9
      let request = ValidationRequest(for: response, by: rules)
      let tag = status == 304 ? Self.tag : "ETag: \"b\""
      let head = FetchHead(
        status: status, url: [], fields: Sample.fields([tag, "Cache-Control: max-age=9"]))
      let entry = RevalidationPlan.Entry(
        ValidationResult(request, ValidationResponse(head: head, requestTime: 0, responseTime: 0)),
        making: changes)
      #expect(entry.skipReason == skipReason, "\(status)")
      #expect((entry.action == .none) == (skipReason != nil))
    }
  }

  @Test func `fields with line breaks and connection fields are not sent`() throws {
    let names = "Host, Content-Length, Transfer-Encoding, Connection, X, Y, Z"
    let response = Sample.response(
      [Self.tag, "Vary: \(names)"],
      request: [
        "Host: evil", "Content-Length: 1", "Transfer-Encoding: chunked", "Connection: X",
        "X: a\r\nEvil: 1", "Y: a\u{0}", "Z: good",
      ])
    #expect(Sample.lines(try sent(response).fields) == ["Z: good", "If-None-Match: W/\"a\""])
    let split = Sample.response(["ETag: \"a\"\r\nEvil: 1"])
    #expect(ValidationRequest(for: split, by: ValidationRules()).skipReason == .noValidator)
  }
}
