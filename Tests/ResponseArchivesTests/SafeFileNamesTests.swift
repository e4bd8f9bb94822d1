import Bytes
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct SafeFileNamesTests {
  @Test(
    arguments: [
      ("https://a.example/b/c.png?x=1", nil, "https/a.example/b/c.png@x=1"),
      ("https://a.example:80/", "text/html", "https/a.example_80/index.html"),
      ("https://a.example/x%20y z", "image/png", "https/a.example/x%20y%20z.png"),
      ("https://../../../x", nil, "https/%2E%2E/%2E%2E/%2E%2E/x"),
      ("https://a.example/con/nul.txt", nil, "https/a.example/_con/_nul.txt"),
      ("https://a.example//x.", nil, "https/a.example/%/x._"),
      ("about:blank", "text/html", "about/%/blank.html"),
    ] as [(ByteString, ByteString?, String)])
  func `a URL becomes a path`(url: ByteString, type: ByteString?, path: String) {
    var names = SafeFileNames()
    #expect(names.name(for: url, type).path == path)
  }

  @Test func `names differ in more than case, and none is both a file and a folder`() {
    var names = SafeFileNames()
    let urls: [ByteString] = [
      "https://a.example/fd", "https://a.example/fd/x", "https://a.example/FD",
      "https://a.example/fd",
      "https://A.EXAMPLE/y.css",
    ]
    let made = urls.map { names.name(for: $0, nil) }
    #expect(
      made.map(\.path) == [
        "https/a.example/fd",
        "https/a.example/fd~1c71835c1bf4433c/x",
        "https/a.example/FD~d71e05ca216dc1b8",
        "https/a.example/fd~d5db3344530890b6",
        "https/a.example/y.css",
      ])
    #expect(
      made.map(\.newFolders.count) == [2, 1, 0, 0, 0])
  }

  /// This takes minutes if each name is compared with all earlier ones.
  @Test func `each of many copies of a URL gets its own name`() {
    var names = SafeFileNames()
    let made = (0..<10_000).map { _ in names.name(for: "https://a.example/fd.png", nil).path }
    #expect(
      made.prefix(3) == [
        "https/a.example/fd.png",
        "https/a.example/fd~c477119d3bf09360.png",
        "https/a.example/fd~c477119d3bf09360~2.png",
      ])
    #expect(made.last == "https/a.example/fd~c477119d3bf09360~9999.png")
    #expect(Set(made).count == made.count)
  }

  @Test func `a long component is truncated`() {
    var names = SafeFileNames()
    let long = String(repeating: "l", count: 300)
    let name = names.name(for: ByteString("https://a.example/\(long)"), nil).path
    #expect(name.utf8.count == "https/a.example/".utf8.count + 120)
  }
}
