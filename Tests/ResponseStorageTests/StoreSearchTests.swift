import ResponseStorage
import Testing

@Suite struct StoreSearchTests {
  @Test func `on macOS the Library folders of the user are searched`() {
    let variables = ["HOME": "/Users/a", "TMPDIR": "/var/folders/xx/yyyy/T/"]
    #expect(
      folders(on: .apple, variables) == [
        "/Users/a/Library/Caches", "/Users/a/Library/Containers",
        "/Users/a/Library/Group Containers", "/Users/a/Library/Developer/CoreSimulator/Devices",
        "/Users/a/Library/Application Support/iPhone Simulator", "/var/folders/xx/yyyy",
      ])
    #expect(folders(on: .apple, ["TMPDIR": "/tmp/var/folders/xx/yyyy/T"]) == [])
    #expect(folders(on: .apple, ["TMPDIR": "/var/folders/xx"]) == [])
  }

  @Test func `the folder of the user can have its other name`() {
    // `/var` is a link to `/private/var` there.
    let variables = ["TMPDIR": "/private/var/folders/xx/yyyy/T/"]
    #expect(folders(on: .apple, variables) == ["/private/var/folders/xx/yyyy"])
  }

  @Test(
    arguments: [
      (["HOME": "/home/a"], ["/home/a/.cache", "/home/a/.var/app"]),
      (["HOME": "/home/a", "XDG_CACHE_HOME": "/c"], ["/c", "/home/a/.cache", "/home/a/.var/app"]),
      (["HOME": "/home/a", "XDG_CACHE_HOME": "c"], ["/home/a/.cache", "/home/a/.var/app"]),
    ] as [([String: String], [String])])
  func `elsewhere the XDG cache folder is searched, and a home that was copied from a Mac`(
    _ variables: [String: String], _ expected: [String]
  ) {
    let copied = folders(on: .apple, ["HOME": "/home/a"])
    #expect(copied.count == 5)
    #expect(folders(on: .freedesktop, variables) == expected + copied)
  }

  @Test(arguments: [["HOME": "", "XDG_CACHE_HOME": ""], [:]])
  func `without a home nothing is searched`(_ variables: [String: String]) {
    #expect(folders(on: .freedesktop, variables) == [])
  }

  private func folders(on system: StoreSearch.System, _ variables: [String: String]) -> [String] {
    let search = StoreSearch(placesOn: system) { variables[$0] }
    #expect(!search.needsFolders)
    return search.folders
  }
}
