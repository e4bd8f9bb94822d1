import Administration
import TestSupport
import Testing

@Suite struct ConfigurationEditTests {
  private static let file = """
    # What all caches have.
    wait = "10s"   # long enough

    # The shop.
    [caches.shop]
    path = "/shop"
    order = [
      "stale-first",  # why not
      "oldest",
    ]

    [[caches.shop.rules]]
    name = "a"
    match = {}
    action = "keep"

    """

  @Test(
    arguments: [
      ("wait", "30s", "wait = \"10s\" ", "wait = \"30s\" "),
      ("max_delete", "5%", "enough\n", "enough\nmax-delete = \"5%\"\n"),
      ("max-entries", "7", "enough\n", "enough\nmax-entries = 7\n"),
      ("caches.shop.path", "/a \"b\"\\", "path = \"/shop\"", #"path = "/a \"b\"\\""#),
      (
        "caches.shop.order", "oldest", "[\n  \"stale-first\",  # why not\n  \"oldest\",\n]",
        "\"oldest\""
      ),
      ("caches.shop.max-size", "1GiB", "\n]\n", "\n]\nmax-size = \"1GiB\"\n"),
      (
        "caches.news.path", "/news", "action = \"keep\"\n",
        "action = \"keep\"\n\n[caches.news]\npath = \"/news\"\n"
      ),
      (
        "caches.a.b.path", "/b", "action = \"keep\"\n",
        "action = \"keep\"\n\n[caches.\"a.b\"]\npath = \"/b\"\n"
      ),
      ("only-if-over", "true", "enough\n", "enough\nonly-if-over = true\n"),
      ("secure", "true", "enough\n", "enough\nsecure = true\n"),
    ])
  func `only the text of one setting changes`(
    _ key: String, _ value: String, _ old: String, _ new: String
  ) throws {
    let edit = try edit(Self.file)
    let changed = try edit.setting(ConfigurationEdit.Key(key), to: value)
    #expect(String(decoding: changed, as: UTF8.self) == Self.file.replacing(old, with: new))
  }

  @Test(arguments: [
    ("wait", "wait = \"10s\"   # long enough\n"), ("caches.shop.path", "path = \"/shop\"\n"),
    ("caches.shop.order", "order = [\n  \"stale-first\",  # why not\n  \"oldest\",\n]\n"),
  ])
  func `a setting is removed with its line, and removing a missing one changes nothing`(
    _ key: String, _ line: String
  ) throws {
    let edit = try edit(Self.file)
    let changed = try #require(try edit.removing(ConfigurationEdit.Key(key)))
    #expect(String(decoding: changed, as: UTF8.self) == Self.file.replacing(line, with: ""))
    #expect(try edit.removing(ConfigurationEdit.Key("caches.none.path")) == nil)
    #expect(try edit.removing(ConfigurationEdit.Key("capacity")) == nil)
  }

  @Test(arguments: [
    ("", "wait", "1s", "wait = \"1s\"\n"),
    ("", "caches.a.path", "/a", "[caches.a]\npath = \"/a\"\n"),
    ("# note", "wait", "1s", "# note\n\nwait = \"1s\"\n"),
    ("wait = '1s'", "capacity", "5MiB", "wait = '1s'\ncapacity = \"5MiB\"\n"),
    ("[caches.a]", "caches.a.path", "/a", "[caches.a]\npath = \"/a\"\n"),
    (
      "# File.\n\n# Cache.\n[caches.a]\npath = '/a'\n", "wait", "1s",
      "# File.\n\nwait = \"1s\"\n# Cache.\n[caches.a]\npath = '/a'\n"
    ),
    ("caches.a.path = '/a'\n", "caches.a.path", "/b", "caches.a.path = \"/b\"\n"),
    (
      "caches = { a = { path = '/a' } }", "caches.a.path", "/b",
      "caches = { a = { path = \"/b\" } }"
    ),
    ("wait = '1x'\n", "wait", "1s", "wait = \"1s\"\n"),
  ])
  func `a setting can be added to any file`(
    _ old: String, _ key: String, _ value: String, _ new: String
  ) throws {
    let changed = try edit(old).setting(ConfigurationEdit.Key(key), to: value)
    #expect(String(decoding: changed, as: UTF8.self) == new)
  }

  @Test(
    arguments: [
      (Self.file, "wait", "1m", "'1m' could mean minutes or months", false),
      (
        Self.file, "caches.shop.path", "shop", "the path must start with '/' or '~/'", false
      ),
      (
        "max-age = '1m'\n", "wait", "1s",
        "line 1 of the file has an error: '1m' could mean minutes or months", true
      ),
      (
        "caches.a.path = '/a'\n", "caches.a.wait", "1s",
        "cannot edit this setting, because of how it is written in the file", true
      ),
      (
        "caches = { a = { path = '/a' } }", "caches.a.wait", "1s",
        "cannot edit this setting, because of how it is written in the file", true
      ),
      (
        "caches = { a = { path = '/a', wait = '1s' } }", "caches.a.wait", nil,
        "cannot edit this setting, because of how it is written in the file", true
      ),
    ] as [(String, String, String?, String, Bool)])
  func `impossible edits are refused`(
    _ file: String, _ key: String, _ value: String?, _ reason: String, _ isOfFile: Bool
  ) throws {
    let edit = try edit(file)
    let key = try ConfigurationEdit.Key(key)
    let failure = #expect(throws: ConfigurationEdit.Failure.self) {
      if let value { _ = try edit.setting(key, to: value) } else { _ = try edit.removing(key) }
    }
    #expect(failure?.reason == reason)
    #expect(failure?.isOfFile == isOfFile)
  }

  @Test(arguments: [
    ("max-sizes", "did you mean 'max-size'?"), ("caches.a.pth", "did you mean 'caches.a.path'?"),
    (
      "caches.a.cache",
      "use one of: path, wait, max-delete, capacity, preset, max-size, max-entries, max-age, max-entry-size, min-free,"
        + " low, only-if-over, order, secure"
    ),
  ])
  func `an unknown setting is refused`(_ text: String, _ hint: String) {
    let failure = #expect(throws: ConfigurationEdit.Failure.self) {
      try ConfigurationEdit.Key(text)
    }
    #expect(failure?.reason == "unknown setting '\(text)'")
    #expect(failure?.hint == hint)
  }

  private func edit(_ text: String) throws -> ConfigurationEdit {
    try ConfigurationEdit(Array(text.utf8), path: "file", home: "/home/a")
  }
}

extension String {
  /// Returns the text with the first occurrence of `old` replaced.
  fileprivate func replacing(_ old: String, with new: String) -> String {
    guard let range = firstRange(of: old) else { return "'\(old)' is not in the file" }
    return self[..<range.lowerBound] + new + self[range.upperBound...]
  }
}
