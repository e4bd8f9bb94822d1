import Foundation
import Testing

/// The modules that each module may import: the arrows of the architecture page.
private let allowedImports: [String: Set<String>] = [
  "HTTPCaching": [],
  "PropertyLists": [],
  "Files": ["Glibc", "Musl", "Darwin", "Crypto", "CryptoKit"],
  "SQLite": ["CSQLite", "Files"],
  "ResponseStorage": ["Files", "HTTPCaching", "PropertyLists", "SQLite"],
  "Administration": ["Files", "HTTPCaching", "ResponseStorage", "_StringProcessing"],
  "Rendering": ["Administration", "HTTPCaching", "ResponseStorage"],
  "AdminCommands": [
    "Administration", "ArgumentParser", "Files", "HTTPCaching", "Rendering", "ResponseStorage",
  ],
  "urlcache-admin": ["AdminCommands"],
  "sample-cache": ["ArgumentParser", "Files", "PropertyLists", "ResponseStorage"],
]

/// The folders of `Sources` that hold no Swift.
private let cModules: Set<String> = ["CSQLite"]

/// The only modules that may use what the compiler cannot check.
private let unsafeModules: Set<String> = ["Files", "SQLite", "Archive"]

@Suite struct ImportTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(components: "..", "..", "Sources").standardizedFileURL

  @Test func `each folder of Sources is a module of the architecture`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path())
    #expect(Set(folders) == Set(allowedImports.keys).union(cModules))
  }

  @Test func `a module imports only what lies below it`() throws {
    for (module, allowed) in allowedImports {
      for file in try Self.files(of: module) {
        let forbidden = imports(in: file.text).subtracting(allowed)
        #expect(forbidden == [], "\(module)/\(file.name)")
      }
    }
  }

  @Test func `unsafe code has its homes`() throws {
    for module in allowedImports.keys where !unsafeModules.contains(module) {
      for file in try Self.files(of: module) {
        #expect(!isUnsafe(file.text), "\(module)/\(file.name)")
      }
    }
  }

  @Test func `no decoder of Foundation sees the bytes of a cache`() throws {
    for module in allowedImports.keys {
      for file in try Self.files(of: module) {
        for decoder in ["PropertyListSerialization", "PropertyListDecoder", "NSKeyedUnarchiver"] {
          #expect(!file.text.contains(decoder), "\(module)/\(file.name)")
        }
      }
    }
  }

  @Test func `only ResponseStorage knows the tables of CFNetwork`() throws {
    for module in allowedImports.keys where module != "ResponseStorage" {
      for file in try Self.files(of: module) {
        #expect(!file.text.contains("cfurl_"), "\(module)/\(file.name)")
      }
    }
  }

  @Test func `the checks find what they look for`() {
    #expect(
      imports(
        in: "public import struct A.B\n@testable import C\n  internal import D\n// import E\n")
        == ["A", "C", "D"])
    #expect(isUnsafe("let a = unsafe b"))
    #expect(isUnsafe("var a: UnsafeRawPointer?"))
    #expect(isUnsafe("OpaquePointer()"))
    #expect(!isUnsafe("// unsafe\nlet unsafely = 1"))
  }

  private static func files(of module: String) throws -> [(name: String, text: String)] {
    let folder = sources.appending(component: module)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
      .filter { $0.hasSuffix(".swift") }
    #expect(!names.isEmpty, "\(module) has no files")
    return try names.sorted().map {
      ($0, try String(contentsOf: folder.appending(component: $0), encoding: .utf8))
    }
  }
}

/// The modules that a source file imports; a submodule counts as its module.
private func imports(in text: String) -> Set<String> {
  var result: Set<String> = []
  let kinds = /(?:struct|class|enum|protocol|func|var|let|typealias)\s+/
  for line in text.split(separator: "\n") {
    let pattern =
      /^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+/
    guard let match = line.prefixMatch(of: pattern) else { continue }
    var rest = line[match.range.upperBound...]
    if let kind = rest.prefixMatch(of: kinds) { rest = rest[kind.range.upperBound...] }
    result.insert(String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
  }
  return result
}

/// Whether a source file uses what the compiler cannot check; comments do not count.
private func isUnsafe(_ text: String) -> Bool {
  let code = text.split(separator: "\n").map {
    $0.prefix(upTo: $0.firstRange(of: "//")?.lowerBound ?? $0.endIndex)
  }
  .joined(separator: "\n")
  return code.contains(/\b(unsafe|Unsafe\w*|OpaquePointer)\b/)
}
