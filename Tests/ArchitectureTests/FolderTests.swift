import Foundation
import Testing

@Suite struct FolderTests {
  /// The maximum number of files in a folder.
  private static let mostFiles = 30

  /// Returns the folders in the modules, with the number of their files.
  private static func folders() throws -> [String: Int] {
    try SourceFile.all().filter(\.isSwift).reduce(into: [:]) { counts, file in
      counts[file.path.split(separator: "/").dropLast().joined(separator: "/"), default: 0] += 1
    }
  }

  @Test func `no folder has too many files`() throws {
    #expect(try Self.folders().filter { $0.value > Self.mostFiles } == [:])
  }

  @Test func `the page about the sources lists every folder and no other`() throws {
    let page = SourceFile.root.appending(component: "README.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Folders\n") })
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
    var named: [String] = []
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells.count == 2 && cells.last != "", "\(row)")
      named += (cells.first ?? "").split(separator: "`").map(String.init).filter { $0 != ", " }
    }
    #expect(Set(named).count == named.count)
    #expect(try Set(named) == Set(Self.folders().keys.filter { $0.contains("/") }))
  }
}
