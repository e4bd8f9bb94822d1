import Testing

@testable import ResponseStorage

/// Resolves the examples of RFC 3986 §5.4.
@Suite struct URLReferenceTests {
  @Test(arguments: [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
    ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
  ])
  func `references are resolved as in the RFC`(reference: String, result: String) {
    let base = URLReference(Array("http://a/b/c/d;p?q".utf8))
    let resolved = URLReference(Array(reference.utf8)).resolved(against: base)
    #expect(String(decoding: resolved.text, as: UTF8.self) == result)
  }

  @Test func `a base without a path has the root path`() {
    let resolved = URLReference(Array("g".utf8)).resolved(
      against: URLReference(Array("http://a".utf8)))
    #expect(resolved.text == Array("http://a/g".utf8))
  }
}
