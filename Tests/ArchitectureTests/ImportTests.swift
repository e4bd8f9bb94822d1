import Foundation
import Synchronization
import Testing

/// The names of the C library on each system.
private let cLibrary: Set<String> = ["Darwin", "Glibc", "Musl"]

/// The modules that each module may import, as on the architecture page.
private let allowedImports: [String: Set<String>] = [
  "Bytes": [],
  "HTTPCaching": ["Bytes"],
  "Fetching": ["HTTPCaching"],
  "PropertyLists": ["Bytes"],
  "Matching": cLibrary.union(["Bytes", "CPCRE2"]),
  "Files": cLibrary.union(["Bytes", "CFiles", "CNettle", "CryptoKit", "Dispatch", "MachO"]),
  "SQLite": cLibrary.union(["Bytes", "CSQLite", "Files"]),
  "SQLitePages": [],
  "Archive": cLibrary.union(["CArchive", "CDeflate"]),
  "Secrets": ["Bytes", "Files"],
  "ResponseStorage": [
    "Bytes", "Files", "HTTPCaching", "PropertyLists", "SQLite", "SQLitePages", "Secrets",
  ],
  "JSON": ["Bytes", "Files"],
  "Progress": ["Files", "JSON"],
  "ResponseArchives": [
    "Archive", "Bytes", "Files", "HTTPCaching", "JSON", "ResponseStorage", "SQLite",
  ],
  "Administration": [
    "Bytes", "Files", "HTTPCaching", "JSON", "Matching", "ResponseArchives", "ResponseStorage",
    "SQLite", "Secrets",
  ],
  "Revalidation": [
    "Administration", "Bytes", "Fetching", "Files", "HTTPCaching", "ResponseStorage", "SQLite",
    "Secrets",
  ],
  "Auditing": [
    "Administration", "Bytes", "Files", "HTTPCaching", "JSON", "ResponseArchives",
    "ResponseStorage", "SQLitePages", "Secrets",
  ],
  "Rendering": [
    "Administration", "Auditing", "Bytes", "Fetching", "HTTPCaching", "JSON", "Matching",
    "ResponseArchives", "ResponseStorage", "Revalidation", "Secrets", "Watching",
  ],
  "Watching": ["Administration", "Bytes", "Files", "ResponseStorage", "SQLite"],
  "Querying": [
    "Administration", "Bytes", "Files", "HTTPCaching", "Rendering", "ResponseStorage", "SQLite",
  ],
  "AdminCommands": [
    "Administration", "ArgumentParser", "Auditing", "Bytes", "CVersion", "Fetching", "Files",
    "HTTPCaching", "JSON",
    "Matching", "Progress", "Querying", "Rendering", "ResponseArchives", "ResponseStorage",
    "Revalidation", "SampleCaches", "Watching",
  ],
  "urlcache-admin": ["AdminCommands"],
  "urlcache-admin-fetch": [
    "Dispatch", "Fetching", "Files", "Foundation", "FoundationNetworking", "HTTPCaching",
  ],
  "SampleCaches": ["Bytes", "Files", "PropertyLists", "ResponseStorage"],
]

/// The modules that every module may import.
private let importedAnywhere: Set<String> = ["Synchronization"]

/// The folders in `Sources` without Swift code.
private let cModules: Set<String> = [
  "CArchive", "CDeflate", "CFiles", "CNettle", "CPCRE2", "CSQLite", "CVersion",
]

/// The only modules that may use unsafe code.
private let unsafeModules: Set<String> = ["Archive", "Files", "Matching", "SQLite"]

/// The modules in which a size is a `ByteCount`; the modules below them use the types of the operating system or
/// format.
private let modulesWithSizes: Set<String> = [
  "AdminCommands", "Administration", "Auditing", "Rendering", "ResponseArchives", "ResponseStorage",
  "Revalidation", "SampleCaches",
]

/// The files in those modules that handle overflow themselves: of row numbers, times and match counts.
private let filesWithOverflow: Set<String> = [
  "Administration/Selecting/UserInfoExpiry.swift",
  "ResponseStorage/Apple/Reading/AppleScan.swift",
  "Revalidation/FetchSchedule.swift",
]

/// The only module that may use the network.
private let networkingModule = "urlcache-admin-fetch"

@Suite struct ImportTests {
  @Test func `each folder of Sources is a module of the architecture`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: SourceFile.root.path())
      .filter { !$0.hasPrefix(".") && $0 != "README.md" }
    #expect(Set(folders) == Set(allowedImports.keys).union(cModules))
  }

  @Test func `a module imports only what lies below it`() throws {
    let files = try SourceFile.all()
    #expect(Set(files.filter(\.isSwift).map(\.module)) == Set(allowedImports.keys))
    for file in files where file.isSwift {
      let allowed = importedAnywhere.union(allowedImports[file.module] ?? [])
      #expect(imports(in: file.text).subtracting(allowed) == [], "\(file.path)")
    }
  }

  @Test func `only one module uses the network`() throws {
    for file in try SourceFile.all() where file.module != networkingModule {
      #expect(imports(in: file.text).filter(isNetworking) == [], "\(file.path)")
    }
  }

  @Test func `only some modules contain unsafe code`() throws {
    for file in try SourceFile.all() where file.isSwift && !unsafeModules.contains(file.module) {
      #expect(!isUnsafe(file.text), "\(file.path)")
    }
  }

  @Test func `no Foundation decoder reads cache data`() throws {
    for file in try SourceFile.all() {
      #expect(!namesDecoderOfFoundation(file.text), "\(file.path)")
    }
  }

  @Test func `commands only use the clock of their environment`() throws {
    for file in try SourceFile.all()
    where ["AdminCommands", "Administration", "Rendering"].contains(file.module)
      && !file.path.hasSuffix("/CommandEnvironment.swift")
    {
      #expect(!file.text.contains("CurrentProcess.sleep"), "\(file.path)")
      #expect(!file.text.contains("LocalTime.now"), "\(file.path)")
    }
  }

  @Test func `a size saturates by its type`() throws {
    for file in try SourceFile.all() where modulesWithSizes.contains(file.module) {
      #expect(plainSizes(in: file.text) == [], "\(file.path)")
      if !filesWithOverflow.contains(file.path) {
        #expect(!looksForOverflow(file.text), "\(file.path)")
      }
    }
  }

  @Test func `capabilities are expressed by types, not found by casts`() throws {
    // ArgumentParser returns every command as `any ParsableCommand`.
    let border = "AdminCommands/CommandLine/CommandLineRun.swift"
    for file in try SourceFile.all() where file.isSwift {
      #expect(casts(in: file.text) == (file.path == border ? 1 : 0), "\(file.path)")
    }
  }

  @Test func `names in JSON are written by one module`() throws {
    for file in try SourceFile.all() where file.isSwift && file.module != "JSON" {
      #expect(!splicesJSON(file.text), "\(file.path)")
    }
  }

  @Test func `one file says what it takes until data is stored`() throws {
    for file in try SourceFile.all() where file.isSwift && file.path != "Files/Durability.swift" {
      #expect(!file.text.contains("fsync(") && !file.text.contains("fdatasync("), "\(file.path)")
    }
  }

  @Test func `only what creates stores and lists platforms knows the kinds of stores`() throws {
    let knowing = [
      "AdminCommands/Guesses/Conversion.swift", "AdminCommands/Options/ImportOptions.swift",
      "AdminCommands/Running/ImportDestination.swift",
      "Administration/Explaining/CachePlatform.swift",
      // A system, and the format of a plan that is not read yet.
      "AdminCommands/CommandLine/CommandFailure.swift", "Administration/Removing/SavedPlan.swift",
    ]
    let found = try SourceFile.all().filter {
      $0.isSwift && !["ResponseStorage", "ResponseArchives", "SampleCaches"].contains($0.module)
        && namesKindOfStore($0.text)
    }
    #expect(Set(found.map(\.path)) == Set(knowing))
  }

  @Test func `only ResponseStorage knows the tables of CFNetwork`() throws {
    for file in try SourceFile.all() where file.module != "ResponseStorage" {
      #expect(!file.text.contains("cfurl_"), "\(file.path)")
    }
  }
}

@Suite struct ImportCheckerTests {
  @Test(arguments: [
    ("import A", "A"),
    ("public import A", "A"),
    ("  internal import A", "A"),
    ("@testable import A", "A"),
    ("@_implementationOnly import A", "A"),
    ("@_spi(Inside) public import A", "A"),
    ("import struct A.B", "A"),
    ("public import class A.B", "A"),
    ("import A.B.C", "A"),
    ("import `A`", "A"),
    ("import B; import A", "A"),
    ("#if canImport(B)\n  import A\n#endif", "A"),
  ])
  func `imports are found in every spelling`(_ text: String, _ module: String) {
    #expect(imports(in: text).contains(module))
  }

  @Test(arguments: ["// import A", "/// import A", "important()", "let a = b  // import A"])
  func `text that only looks like an import is ignored`(_ text: String) {
    #expect(imports(in: text) == [])
  }

  @Test func `a forbidden import is reported`() {
    let found = imports(in: "import Files\nimport SQLite\n")
    #expect(found.subtracting(allowedImports["Rendering"] ?? []) == ["Files", "SQLite"])
  }

  @Test func `networking modules are recognised by name`() {
    let networking = ["AsyncHTTPClient", "FoundationNetworking", "NIO", "NIOCore", "Network"]
    #expect(networking.allSatisfy(isNetworking))
    #expect(!["Files", "HTTPCaching", "SQLite"].contains(where: isNetworking))
  }

  @Test(arguments: [
    "let a = unsafe b", "var a: UnsafeRawPointer?", "func a(_ b: UnsafeMutablePointer<CChar>)",
    "OpaquePointer()", #"open("https://a.example", unsafe b)"#, #"open("a // b", unsafe b)"#,
  ])
  func `unsafe code is found`(_ text: String) {
    #expect(isUnsafe(text))
  }

  @Test(arguments: [
    "// unsafe", "  /// An UnsafePointer would do.", "let a = b  // unsafe", "let unsafely = 1",
  ])
  func `comments about unsafe code are ignored`(_ text: String) {
    #expect(!isUnsafe(text))
  }

  @Test func `Foundation decoders are recognised by name`() {
    #expect(namesDecoderOfFoundation("try PropertyListDecoder().decode(A.self, from: b)"))
    #expect(namesDecoderOfFoundation("PropertyListSerialization"))
    #expect(namesDecoderOfFoundation("NSKeyedUnarchiver"))
    #expect(!namesDecoderOfFoundation("BinaryPropertyList"))
  }
}

@Suite struct CastCheckerTests {
  @Test(arguments: ["a as? any B", "if a is any B {", "(a as! any B).c", "case let b as any B:"])
  func `a cast to a protocol is found`(_ text: String) {
    #expect(casts(in: text) == 1)
  }

  @Test(arguments: ["// a as? any B", "a as? B", "an error is anything", "catch let a as B"])
  func `other casts are ignored`(_ text: String) {
    #expect(casts(in: text) == 0)
  }
}

@Suite struct SizeCheckerTests {
  @Test(arguments: [
    ("var bodySize: Int64?", "bodySize"), ("let size : Int64", "size"),
    ("func add(_ bytes: Int64)", "bytes"), ("func x(ofSize size: Int64)", "size"),
    ("(name: String, freeBytes: Int64)", "freeBytes"), ("var sizes: [Int64]", "sizes"),
    ("let capacity: Int64", "capacity"), ("var footprintAfter: Int64", "footprintAfter"),
    ("let size = Int64(file.count)", "size"), ("bytes = 0 as Int64", "bytes"),
  ])
  func `a size that is a plain integer is found`(_ text: String, _ name: String) {
    #expect(plainSizes(in: text) == [name])
  }

  @Test(arguments: [
    "var size: ByteCount", "let entries: Int64", "// size: Int64", "let count = Int64(bytes.count)",
    "let place: Range<Int64>", "var sizeClass: Int", "let size = ByteCount(number)",
  ])
  func `other integers and counts are ignored`(_ text: String) {
    #expect(plainSizes(in: text) == [])
  }

  @Test(arguments: [
    ("if format == .apple {", true), ("case .foundation: 1", true), ("[.apple]", true),
    ("if store.format == .archive {", true), ("// format == .apple", false),
    ("case .archive(let archive)", false), ("home + \"/org.swift.foundation.URLCache\"", false),
    ("details.foundation", false),
  ])
  func `a kind of store is found`(_ text: String, _ isFound: Bool) {
    #expect(namesKindOfStore(text) == isFound)
  }

  @Test func `a hand-written JSON member name is found`() {
    #expect(splicesJSON(#"append("{\"name\":")"#))
    #expect(splicesJSON(#"append("_base64\":")"#))
    #expect(!splicesJSON(#"case "\"", "\\": escape()"#))
    #expect(!splicesJSON(#"["\"": 1, "a": 2]"#))
  }

  @Test func `hand-written clamping is found`() {
    #expect(looksForOverflow("let (sum, overflow) = a.addingReportingOverflow(b)"))
    #expect(looksForOverflow("a.multipliedReportingOverflow(by: 3).partialValue"))
    #expect(looksForOverflow("total = total.addingClamped(size)"))
    #expect(!looksForOverflow("// addingReportingOverflow"))
    #expect(!looksForOverflow("total += size"))
  }
}

/// The modules that a source file imports; a submodule counts as its module.
private func imports(in text: String) -> Set<String> {
  let attribute = /@\w+(?:\([^)]*\))?\s+/
  let access = /(?:public|package|internal|fileprivate|private)\s+/
  let kind = /(?:struct|class|enum|protocol|func|var|let|typealias|macro)\s+/
  var result: Set<String> = []
  // The search for a word is much faster than any expression, and leaves out nearly all statements.
  for statement in code(of: text).utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x3B })
  where Substring(statement).contains("import") {
    var rest = Substring(statement).drop(while: \.isWhitespace)
    while let match = rest.prefixMatch(of: attribute) ?? rest.prefixMatch(of: access) {
      rest = rest[match.range.upperBound...]
    }
    guard let match = rest.prefixMatch(of: /import\s+/) else { continue }
    rest = rest[match.range.upperBound...]
    if let match = rest.prefixMatch(of: kind) { rest = rest[match.range.upperBound...] }
    let name = rest.drop { $0 == "`" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    if !name.isEmpty { result.insert(String(name)) }
  }
  return result
}

/// Whether a module provides networking.
private func isNetworking(_ module: String) -> Bool {
  ["AsyncHTTPClient", "FoundationNetworking", "Network"].contains(module)
    || module.hasPrefix("NIO")
}

/// Whether a source file uses unsafe code.
private func isUnsafe(_ text: String) -> Bool {
  let code = code(of: text)
  return (code.contains("nsafe") || code.contains("OpaquePointer"))
    && code.contains(/\b(?:unsafe|Unsafe\w*|OpaquePointer)\b/)
}

/// Whether a source file uses a decoder that crashes or hangs on hostile input.
private func namesDecoderOfFoundation(_ text: String) -> Bool {
  ["PropertyListSerialization", "PropertyListDecoder", "NSKeyedUnarchiver"].contains {
    text.contains($0)
  }
}

/// Whether a source file asks for, or names, one kind of store.
private func namesKindOfStore(_ text: String) -> Bool {
  let code = code(of: text)
  return code.contains(/(?:\W\.(?:apple|foundation)|== \.archive)\b(?!\.)/)
    || code.contains(/\.format == "/)
}

/// Returns the number of casts to a protocol, including conformance checks.
private func casts(in text: String) -> Int {
  let code = code(of: text)
  guard code.contains("any ") else { return 0 }
  return code.matches(of: /\b(?:as[?!]|is|case let \w+ as)\s+any\s+[A-Z]/).count
}

/// Returns the names of sizes that are declared as plain integers, which trap on sizes that a cache can claim.
private func plainSizes(in text: String) -> [String] {
  let name = /\b(\w*(?:[sS]ize|[bB]yte)s?|\w*[cC]apacity|\w*[fF]reed|byteCount|footprint\w*)\s*/
  let plain = /:\s*\[?Int64\b|=\s*(?:Int64\(|-?[0-9_]+ as Int64\b)/
  return lines(of: code(of: text)).filter { $0.contains("Int64") }.flatMap { line in
    line.matches(of: name)
      .filter { line[$0.range.upperBound...].prefixMatch(of: plain) != nil }
      .map { String($0.1) }
  }
}

/// Whether a string literal contains a JSON member name with its quotes and colon.
private func splicesJSON(_ text: String) -> Bool {
  let code = code(of: text)
  return code.contains("\\\":") && code.contains(/(?:^|[^\\])(?:\\\\)*\\":/)
}

/// Whether a source file handles overflow by hand.
private func looksForOverflow(_ text: String) -> Bool {
  let code = code(of: text)
  return code.contains("ReportingOverflow")
    || code.contains("Clamped(") && code.contains(/\w+Clamped\(/)
}

/// Returns the text of a source file without its comments.
///
/// In doubt a comment is kept, because that can only make a check fail wrongly. So `//` counts only after white
/// space, where the formatter puts it, and not inside quotes.
private func code(of text: String) -> String {
  if let code = codes.withLock({ $0[text] }) { return code }
  let code = withoutComments(text)
  codes.withLock { $0[text] = code }
  return code
}

/// The texts of source files without their comments, which several tests look at.
private let codes = Mutex<[String: String]>([:])

private func withoutComments(_ text: String) -> String {
  lines(of: text)
    .map { line in
      guard line.contains("//") else { return line }
      let comment = line.ranges(of: "//").first { range in
        let before = line[..<range.lowerBound]
        return before.last?.isWhitespace ?? true && before.count { $0 == "\"" }.isMultiple(of: 2)
      }
      return line[..<(comment?.lowerBound ?? line.endIndex)]
    }
    .joined(separator: "\n")
}

/// Returns the lines of a text. Splitting it into characters would take ten times as long.
private func lines(of text: String) -> [Substring] {
  text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { Substring($0) }
}
