import Administration
import Bytes
import Matching
import ResponseStorage
import Testing

@Suite struct SelectionTests {
  @Test func `each criterion selects the matching entries only`() throws {
    let day = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    let cases: [(String, (inout Selection) -> Void, (inout Selection) -> Void)] = [
      (
        "url", { $0.names = names(.url("HTTPS://Example.COM:443/a?q=%5b1%5D")) },
        { $0.names = names(.url("https://example.com/a")) }
      ),
      ("key", { $0.names = names(.url("the key")) }, { $0.names = names(.url("The key")) }),
      ("id", { $0.names = names(.id(.row(7))) }, { $0.names = names(.id(.row(8))) }),
      (
        "prefix", { $0.prefixes = ["https://example.com/a"] },
        { $0.prefixes = ["https://example.com/b"] }
      ),
      ("glob", { $0.globs = [glob("https://*/a?q=*")] }, { $0.globs = [glob("*/a")] }),
      ("regex", { $0.expressions = [regex("https?://.*")] }, { $0.expressions = [regex("https")] }),
      ("host", { $0.hosts = ["example.com"] }, { $0.hosts = ["www.example.com"] }),
      ("host in capitals", { $0.hosts = ["EXAMPLE.com"] }, { $0.hosts = ["com"] }),
      ("domain", { $0.hosts = [".example.com"] }, { $0.hosts = [".ple.com"] }),
      (
        "query", { $0.parameters = [.init(name: "x"), .init(name: "q", value: "[1]")] },
        { $0.parameters = [.init(name: "q", value: "1")] }
      ),
      (
        "header", { $0.headers = [.init(name: "x"), .init(name: "Etag", value: glob("*a*"))] },
        { $0.headers = [.init(name: "etag", value: glob("a"))] }
      ),
      (
        "request header", { $0.requestHeaders = [.init(name: "ACCEPT")] },
        { $0.requestHeaders = [.init(name: "accept", value: glob("text"))] }
      ),
      (
        "storage policy", { $0.storagePolicies = [.allowed, .unknown(7)] },
        { $0.storagePolicies = [.allowed] }
      ),
      ("method", { $0.methods = ["get"] }, { $0.methods = ["POST"] }),
      ("status", { $0.statuses = [400...499, 200...200] }, { $0.statuses = [201...299] }),
      ("mime", { $0.mimeTypes = [glob("image/*")] }, { $0.mimeTypes = [glob("text/*")] }),
      (
        "before", { $0.before = Timestamp(secondsSince1970: day.secondsSince1970 + 1) },
        { $0.before = day }
      ),
      (
        "after", { $0.after = Timestamp(secondsSince1970: day.secondsSince1970 - 1) },
        { $0.after = day }
      ),
      ("larger", { $0.largerThan = 99 }, { $0.largerThan = 100 }),
      ("smaller", { $0.smallerThan = 101 }, { $0.smallerThan = 100 }),
      ("body", { $0.bodyLocations = [.inline, .file] }, { $0.bodyLocations = [.missing] }),
      ("partition", { $0.partitions = ["site.example"] }, { $0.partitions = ["other.example"] }),
      (
        "user info", { $0.userInfo = [.init(key: "b"), .init(key: "a", value: "1")] },
        { $0.userInfo = [.init(key: "b"), .init(key: "a", value: "2")] }
      ),
      (
        "freshness", { $0.freshness = [.fresh, .stale] }, { $0.freshness = [.stale, .noLifetime] }
      ),
      ("expiry", { $0.expiresWithin = 60 }, { $0.expiresWithin = 59 }),
      ("validator", { $0.validators = [.none, .weak] }, { $0.validators = [.none, .strong] }),
    ]
    var response = StoredResponse(id: .row(7))
    response.key = "the key"
    response.url = "https://example.com/a?q=[1]"
    response.request.method = "GET"
    response.request.headers = HeaderFields([.init(name: "Accept", value: "text/html")])
    response.status = 200
    response.mimeType = "Image/PNG"
    response.stored = day
    response.bodySize = 100
    response.bodyLocation = .inline
    response.partition = "site.example"
    response.storagePolicy = .unknown(7)
    response.userInfo = [.init(key: "a", value: .integer(1))]
    response.responseHeaders = HeaderFields([
      .init(name: "cache-control", value: "max-age=60"), .init(name: "ETag", value: "W/\"a\""),
    ])
    for (name, select, reject) in cases {
      var (selecting, rejecting) = (Selection(), Selection())
      select(&selecting)
      reject(&rejecting)
      #expect(try selecting.decision(for: response, now: day) == .selected, "\(name)")
      #expect(
        try rejecting.decision(for: response, now: day)
          == (rejecting.names != nil
            ? .notNamed : rejecting.before != nil ? .tooYoung : .notSelected),
        "\(name)")
      #expect(
        try selecting.decision(for: StoredResponse(id: .row(1)), now: day) != .selected, "\(name)")
      #expect(!selecting.isEmpty && Selection().isEmpty, "\(name)")
    }
  }

  @Test func `entries of unknown freshness are reported and not selected`() throws {
    var selection = Selection()
    selection.freshness = [.stale, .noLifetime]
    selection.validators = [.none]
    selection.statuses = [200...200]
    var response = StoredResponse(id: .row(1))
    response.status = 200
    response.stored = epoch
    #expect(try selection.decision(for: response, now: epoch) == .unknownFreshness)
    selection.before = epoch
    #expect(try selection.decision(for: response, now: epoch) == .tooYoung)
    response.responseHeaders = HeaderFields()
    #expect(try selection.decision(for: response, now: epoch) == .tooYoung)
    response.responseHeaders = HeaderFields([.init(name: "ETag", value: "x")])
    #expect(try selection.decision(for: response, now: epoch) == .notSelected)
    selection.before = nil
    response.responseHeaders = HeaderFields()
    #expect(try selection.decision(for: response, now: epoch) == .selected)
    response.status = 404
    #expect(try selection.decision(for: response, now: epoch) == .notSelected)
  }

  @Test(
    arguments: [
      // The requested URL, the URL and key of the response, and whether the store returns that response.
      ("http://a.example/p?user=B", "http://a.example/p?user=A", "a.example|-1|/p|", true),
      ("https://a.example/p/", "http://a.example/p", "a.example|-1|/p|", true),
      ("http://a.example/old", "http://b.example/new", "a.example|-1|/old|", true),
      ("http://b.example/new", "http://b.example/new", "a.example|-1|/old|", false),
      ("http://a.example:80/p", "http://a.example/p", "a.example|-1|/p|", false),
      ("HTTP://A.example/p", "http://a.example/p", "a.example|-1|/p|", nil),
    ] as [(String, String, String, Bool?)])
  func `in a Foundation store a URL selects the response that the store returns for it`(
    _ asked: String, _ url: String, _ key: String, _ isAnswer: Bool?
  ) {
    var response = StoredResponse(id: .file("1.a"))
    response.url = ByteString(url)
    response.key = ByteString(Array(key.utf8).map { $0 == UInt8(ascii: "|") ? 0 : $0 })
    var list = names(.url(ByteString(asked)))
    #expect(list.contains(response))
    let lookup = list.lookup(of: response)
    #expect(lookup?.isAnswer == isAnswer)
    #expect(lookup.map(\.asked) == (isAnswer == nil ? nil : ByteString(asked)))
    list.remove(response)
    #expect(list.isEmpty)
    #expect(list.lookups == [lookup].compactMap { $0 })
    // Only Foundation stores have such keys.
    response.id = .row(1)
    #expect(names(.url(ByteString(asked))).contains(response) == (isAnswer != true))
    #expect(names(.url(ByteString(asked))).lookup(of: response) == nil)
  }

  @Test func `a response is selected by any of its names, and an empty list selects none`() throws {
    var response = StoredResponse(id: .row(7))
    response.url = "https://example.com/a"
    response.key = "the key"
    var selection = Selection()
    selection.names = names(.id(.row(8)), .url("https://example.com/a"))
    #expect(try selection.contains(response, now: epoch))
    selection.names = names(.id(.row(7)), .url("https://example.com/b"))
    #expect(try selection.contains(response, now: epoch))
    selection.statuses = [200...200]
    #expect(try selection.decision(for: response, now: epoch) == .notSelected)
    selection = Selection()
    selection.names = EntryNames()
    #expect(try selection.decision(for: response, now: epoch) == .notNamed)
    #expect(!selection.isEmpty)
  }

  @Test func `matched names are removed from the list, and the others keep their order`() {
    var response = StoredResponse(id: .row(7))
    response.url = "https://example.com/a"
    response.key = "the key"
    var absent = names(
      .url("https://b/"), .id(.row(9)), .url("HTTPS://EXAMPLE.com/a"), .id(.row(7)),
      .url("the key"), .id(.row(9)), .url("https://B:443/"))
    #expect(absent.names.count == 5)
    absent.remove(response)
    #expect(absent.names == [.url("https://b/"), .id(.row(9))])
    response.url = "https://b"
    response.id = .row(9)
    absent.remove(response)
    #expect(absent.isEmpty)
  }

  @Test func `entries without a time are not selected by age and are reported`() throws {
    let day = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    var selection = Selection()
    selection.before = day
    #expect(try selection.decision(for: StoredResponse(id: .row(1)), now: day) == .unknownTime)
    var response = StoredResponse(id: .row(1))
    response.responseHeaders = HeaderFields([
      .init(name: "LAST-MODIFIED", value: "Sun, 06 Nov 1994 08:49:37 GMT")
    ])
    response.userInfo = [.init(key: "Cached Date", value: .date(day))]
    selection.ageBasis = .lastModified
    #expect(try selection.decision(for: response, now: day) == .selected)
    selection.ageBasis = try #require(AgeBasis(name: "user-info:Cached Date"))
    #expect(try selection.decision(for: response, now: day) == .tooYoung)
    #expect(AgeBasis(name: "user-info:") == nil)
  }

  @Test func `an expression is not matched against URLs of other hosts`() throws {
    var response = StoredResponse(id: .row(1))
    response.url = ByteString(Array("https://b.example/\(String(repeating: "a", count: 60))".utf8))
    var selection = Selection()
    selection.expressions = [
      try RegularExpression("https://b.example/(a+)+[0-9]", .matchesWholeText)
    ]
    #expect(throws: RegularExpression.Overrun.self) { try selection.contains(response, now: epoch) }
    selection.hosts = ["a.example"]
    #expect(try !selection.contains(response, now: epoch))
  }

  @Test func `criteria are combined with AND, and values of one with OR`() throws {
    var response = StoredResponse(id: .row(1))
    response.status = 404
    response.request.method = "GET"
    var selection = Selection()
    selection.statuses = [200...200, 404...404]
    selection.methods = ["POST", "GET"]
    #expect(try selection.contains(response, now: epoch))
    selection.methods = ["POST"]
    #expect(try !selection.contains(response, now: epoch))
  }

  @Test func `the key replaces an unknown URL`() throws {
    var response = StoredResponse(id: .row(1))
    response.key = "HTTPS://Example.com/a"
    var named = Selection()
    named.names = names(.url("https://example.com/a"))
    var prefixed = Selection()
    prefixed.prefixes = ["HTTPS://Example.com"]
    var matched = Selection()
    matched.globs = [glob("*/a")]
    var expressed = Selection()
    expressed.expressions = [regex(".*/a")]
    for selection in [named, prefixed, matched, expressed] {
      #expect(try selection.contains(response, now: epoch))
      #expect(selection.projection == [.url, .key])
    }
    response.url = "https://example.org/b"
    #expect(try named.contains(response, now: epoch))
    for selection in [prefixed, matched, expressed] {
      #expect(try !selection.contains(response, now: epoch))
    }
  }

  @Test func `hostile URLs are compared by bytes`() throws {
    var response = StoredResponse(id: .row(1))
    response.url = ByteString("https://a/\"\u{301}\r\n")
    var selection = Selection()
    selection.prefixes = ["https://a/\""]
    #expect(try selection.contains(response, now: epoch))
    selection.prefixes = []
    selection.globs = [glob("https://a/\"?\r\n")]
    #expect(try selection.contains(response, now: epoch))
    selection.globs = [glob("https://a/\"\r\n")]
    #expect(try !selection.contains(response, now: epoch))

    response.url = ByteString(Array("https://a/".utf8) + [0xFF])
    selection.globs = [glob("https://a/?")]
    #expect(try selection.contains(response, now: epoch))
    selection.globs = []
    selection.expressions = [regex("(?s).*")]
    #expect(try !selection.contains(response, now: epoch))
    selection.expressions = []
    selection.names = names(.url("https://a/%FF"))
    #expect(try selection.contains(response, now: epoch))

    response.url = ByteString("https://a/" + String(repeating: "a", count: 1 << 20))
    selection.names = nil
    selection.globs = [glob("*a/*")]
    #expect(try selection.contains(response, now: epoch))
    selection.globs = [glob("*aab")]
    #expect(try !selection.contains(response, now: epoch))
  }

  @Test func `a missing body is neither larger nor smaller`() throws {
    var selection = Selection()
    selection.largerThan = 0
    #expect(try !selection.contains(StoredResponse(id: .row(1)), now: epoch))
    selection = Selection()
    selection.smallerThan = 1
    #expect(try !selection.contains(StoredResponse(id: .row(1)), now: epoch))
  }

  private let epoch: Timestamp

  init() throws {
    epoch = try #require(Timestamp(secondsSince1970: 0))
  }

  private func names(_ names: EntryNames.Name...) -> EntryNames { EntryNames(names) }

  private func glob(_ pattern: String) -> Glob {
    guard let glob = Glob(pattern) else {
      Issue.record("not a pattern: \(pattern)")
      return Glob("") ?? glob("*")
    }
    return glob
  }

  private func regex(_ pattern: String) -> RegularExpression {
    do { return try RegularExpression(pattern, .matchesWholeText) } catch {
      Issue.record("not an expression: \(pattern)")
      return regex(".")
    }
  }
}
