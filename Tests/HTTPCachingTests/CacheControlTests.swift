import HTTPCaching
import Testing

@Suite struct CacheControlTests {
  private func control(_ lines: String...) -> CacheControl {
    CacheControl(Sample.fields(lines.map { "Cache-Control: \($0)" }))
  }

  @Test func `every directive is recognised in any case`() {
    for name in CacheDirective.Name.allCases {
      for spelling in [name.rawValue, name.rawValue.uppercased()] {
        let control = control(spelling)
        #expect(control.directives.map(\.name) == [name])
        #expect(control.unknown == [])
      }
    }
    #expect(CacheDirective.Name.allCases.count == 16)
  }

  @Test func `a number is digits, quoted or not`() {
    for (argument, expected) in [
      ("=0", DeltaSeconds.seconds(0)), ("=00060", .seconds(60)), ("=\"60\"", .seconds(60)),
      ("=2147483647", .seconds(2_147_483_647)), ("=2147483648", .seconds(2_147_483_648)),
      ("=2147483649", .seconds(2_147_483_648)),
      ("=99999999999999999999999999", .seconds(2_147_483_648)),
      ("=\"\\6\\0\"", .seconds(60)),
      ("", .invalid([])), ("=", .invalid(bytes("="))), ("=-1", .invalid(bytes("-1"))),
      ("=+5", .invalid(bytes("+5"))), ("=5.0", .invalid(bytes("5.0"))),
      ("=5s", .invalid(bytes("5s"))), ("=5 6", .invalid(bytes("=5 6"))),
      ("=0x10", .invalid(bytes("0x10"))), (" = 5", .invalid(bytes(" = 5"))),
      ("= 5", .invalid(bytes("= 5"))), ("=\"\"", .invalid([])),
      ("=\"5\"6", .invalid(bytes("=\"5\"6"))), ("=\" 5\"", .invalid(bytes(" 5"))),
      ("=\u{0665}", .invalid(bytes("=\u{0665}"))),
    ] {
      #expect(control("max-age\(argument)").seconds(.maxAge) == expected, "\(argument)")
    }
    #expect(control("public").seconds(.maxAge) == nil)
  }

  @Test func `lines form one list, and a quoted comma does not end a member`() {
    let list = control(
      " public ,, max-age=5,\tfoo=\"a, no-store, \\\"b\" ", "", "no-cache=\"A, b\"")
    #expect(list.directives.map(\.name) == [.public, .maxAge, .noCache])
    #expect(list.unknown == [bytes("foo=\"a, no-store, \\\"b\"")])
    #expect(list.unclosed == [])
    #expect(FieldScope.noCache(list) == .fields(["a", "B"]))
    #expect(control("=5, \"x\", ;a").malformed == [bytes("=5"), bytes("\"x\""), bytes(";a")])
  }

  @Test func `arguments do not keep a directive from counting`() {
    for text in ["no-store=1", "no-store=\"x\"", "no-store=", "no-store x", "no-store;max-age=5"] {
      #expect(control(text).contains(.noStore), "\(text)")
    }
  }

  @Test func `an open quotation mark hides nothing that forbids`() {
    let list = control("foo=\"a, no-store, max-age=60, Must-Revalidate", "public")
    #expect(list.directives.map(\.name) == [.noStore, .mustRevalidate, .public])
    #expect(list.unclosed == [bytes("\"a, no-store, max-age=60, Must-Revalidate")])
    #expect(control("foo=\"no-storefront").directives == [])
    #expect(control("foo=\"a\\").unclosed == [bytes("\"a\\")])
  }

  @Test func `the first of repeated directives counts, and the others are noted`() {
    let list = control("max-age=5, max-age=7", "max-age=5")
    #expect(list.seconds(.maxAge) == .seconds(5))
    #expect(list.contradictory.map(\.argument) == [.token(bytes("7"))])
    #expect(control("max-age=x, max-age=7").seconds(.maxAge) == .invalid(bytes("x")))
  }

  @Test func `the qualified form names fields, and the strictest form counts`() {
    for (text, expected) in [
      ("no-cache", FieldScope.wholeResponse), ("no-cache=\"a, B\"", .fields(["A", "b"])),
      ("no-cache=a", .fields(["a"])), ("no-cache=\"a\", no-cache=\"b\"", .fields(["a", "b"])),
      ("no-cache=\"a\", no-cache", .wholeResponse), ("no-cache, no-cache=\"a\"", .wholeResponse),
      ("no-cache=\"\"", .wholeResponse), ("no-cache=\"a b\"", .wholeResponse),
      ("no-cache=", .wholeResponse), ("no-cache =\"a\"", .wholeResponse),
    ] {
      #expect(FieldScope.noCache(control(text)) == expected, "\(text)")
    }
    #expect(FieldScope.noCache(control("private")) == nil)
  }

  @Test func `the order of lines does not matter for unique directives`() {
    let lines = ["public, max-age=5", "no-cache=\"a\"", "stale-if-error=9, foo", "immutable"]
    for seed in 0..<50 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let shuffled = lines.shuffled(using: &generator)
      let list = CacheControl(Sample.fields(shuffled.map { "cache-CONTROL: \($0)" }))
      #expect(list.seconds(.maxAge) == .seconds(5), "seed \(seed)")
      #expect(list.seconds(.staleIfError) == .seconds(9), "seed \(seed)")
      #expect(FieldScope.noCache(list) == .fields(["a"]), "seed \(seed)")
      #expect(Set(list.directives.map(\.name)).count == 5, "seed \(seed)")
      #expect(list.unknown == [bytes("foo")], "seed \(seed)")
    }
  }

  @Test func `request directives are parsed`() {
    let request = RequestDirectives(
      Sample.fields(
        "Cache-Control: max-age=5, min-fresh=\"6\", max-stale, stale-if-error=7",
        "Cache-Control: only-if-cached, no-store, no-cache", "Pragma: no-cache"))
    #expect(request.maxAge == 5)
    #expect(request.minFresh == 6)
    #expect(request.maxStale == .any)
    #expect(request.staleIfError == 7)
    #expect(request.onlyIfCached && request.noStore && request.noCache)
    #expect(!request.pragmaNoCache)
    let invalid = RequestDirectives(
      Sample.fields("Cache-Control: max-age=x, min-fresh=-1, max-stale=1.5, stale-if-error="))
    #expect(invalid.maxAge == nil && invalid.minFresh == nil && invalid.staleIfError == nil)
    #expect(invalid.maxStale == nil)
    #expect(RequestDirectives(Sample.fields("Pragma: x, NO-CACHE")).pragmaNoCache)
    #expect(!RequestDirectives(Sample.fields("Pragma: no-cachex")).pragmaNoCache)
  }

  @Test func `a million bytes of any kind are parsed`() {
    for piece in ["a,", "\"", "\\", "\"a\\\",", "max-age=", ",", " ", "no-store\""] {
      let value = String(repeating: piece, count: 1_000_000 / piece.utf8.count)
      _ = control(value)
    }
  }
}

extension FieldScope {
  /// Returns the scope of `no-cache`.
  fileprivate static func noCache(_ control: CacheControl) -> FieldScope? {
    ResponseDirectives(control).noCache
  }
}
