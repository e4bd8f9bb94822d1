import Bytes
import Files
import Foundation
import Testing

@testable import ResponseStorage

@Suite struct IntentTests {
  private let name = "0000000A-0000-0000-0000-000000000001"

  @Test func `an intent is read back`() throws {
    var intent = Intent(try #require(Intent.Place(.apple, "/")), removed: 2, added: 2)
    intent.place.path = Array("/a%20b".utf8)
    #expect(Intent(reading: text(of: intent)) == intent)
    #expect(
      Intent.Place(.apple, [1, 2], "/a b\n%\u{7F}\u{E9}").path
        == Array("/a%20b%0A%25%7F%C3%A9".utf8))
  }

  @Test func `a truncated last line is ignored`() throws {
    let intent = Intent(try #require(Intent.Place(.apple, "/")), removed: 2, added: 1)
    let whole = text(of: intent)
    let header = Intent.header(intent.place).count
    var lengths: Set<Int> = []
    for count in 0..<whole.count {
      let read = Intent(reading: Array(whole[..<count]))
      #expect((read == nil) == (count < header))
      if let read { lengths.insert(read.removed.count + read.added.count) }
      // A command that was killed while writing the header changed nothing, so it is not reported.
      #expect(Intent.isCutShort(Array(whole[..<count])) == (count < header))
    }
    #expect(lengths == [0, 1, 2])
  }

  @Test(arguments: [
    "removes A 1 2\n", "removes A 1 2 3 4\n", "removes A -1 2 3\n",
    "removes A 1 2 9223372036854775808\n",
    "adds\n", "adds A B\n", "adds A\n\n", "moves A\n", "\0\n", "\u{FEFF}adds A\n",
  ])
  func `a malformed intent is not partially read`(line: String) throws {
    let header = Intent.header(try #require(Intent.Place(.apple, "/")))
    #expect(Intent(reading: header + Array(line.utf8)) == nil)
    #expect(!Intent.isCutShort(header + Array(line.utf8)))
  }

  @Test(arguments: [
    "urlcache-admin intent 2\napple 1 2 /\n", "urlcache-admin intent 1\nother 1 2 /\n",
    "urlcache-admin intent 1\napple 1 /\n", "urlcache-admin intent 1\napple 1 x /\n", "\n\n",
    "text",
  ])
  func `a file with another header is not an intent`(text: String) {
    #expect(Intent(reading: Array(text.utf8)) == nil)
    #expect(!Intent.isCutShort(Array(text.utf8)))
  }

  @Test func `a folder is identified by its inode and its device or path`() {
    let place = Intent.Place(.apple, [1, 2], "/a")
    #expect(place.isSame(as: Intent.Place(.apple, [1, 2], "/b")))
    #expect(place.isSame(as: Intent.Place(.apple, [9, 2], "/a")))
    #expect(!place.isSame(as: Intent.Place(.apple, [9, 2], "/b")))
    #expect(!place.isSame(as: Intent.Place(.apple, [1, 3], "/a")))
    #expect(!place.isSame(as: Intent.Place(.foundation, [1, 2], "/a")))
  }

  @Test func `only unchanged files that no row refers to are removed`() throws {
    let cache = try Cache()
    let (gone, named, changed, replaced, staged, notOurs) = (
      try cache.makeBody(1), try cache.makeBody(2), try cache.makeBody(3), try cache.makeBody(4),
      try cache.makeBody(5), try cache.makeBody(6)
    )
    try cache.insertRow(for: named)
    try cache.insertRow(for: staged)
    try cache.leaveIntent(removing: [gone, named, changed, replaced], adding: [staged])
    try cache.write("other", to: changed)
    // A different file with the same size and modification time.
    let time = try #require(try cache.attributes(of: replaced)[.modificationDate] as? Date)
    try FileManager.default.moveItem(
      atPath: cache.path(of: replaced), toPath: cache.folder.path + "/moved")
    try cache.write("12345", to: replaced)
    try FileManager.default.setAttributes(
      [.modificationDate: time], ofItemAtPath: cache.path(of: replaced))
    var expected = FinishedIntents()
    (expected.areBodyFiles, expected.removedFiles) = (true, 1)
    #expect(cache.opening.finishIntents() == expected)
    #expect(try cache.bodies() == [named, changed, replaced, staged, notOurs].sorted())
    #expect(try cache.intents() == [])
    #expect(cache.opening.finishIntents() == FinishedIntents())
  }

  @Test func `names that are not UUIDs are ignored`() throws {
    let cache = try Cache()
    let database = try FileStatus.of("\(cache.folder.path)/cache/Cache.db")
    var intent = Intent(try cache.place())
    intent.removed = [
      .init(name: "../Cache.db", version: try #require(FileVersion(database)))
    ]
    intent.added = ["../Cache.db", ".", "", "/etc/passwd"]
    try cache.leave(text(of: intent))
    #expect(cache.opening.finishIntents() == FinishedIntents())
    #expect(
      try FileStatus.of("\(cache.folder.path)/cache/Cache.db").identity == database.identity)
    #expect(try cache.intents() == [])
  }

  @Test func `an intent that a command has open is not treated as left behind`() throws {
    let cache = try Cache()
    let body = try cache.makeBody(1)
    let intents = try #require(cache.opening.intents)
    var intent = intents.begin(try cache.place())
    intent?.note(added: ByteString(body))
    #expect(cache.opening.finishIntents() == FinishedIntents())
    #expect(try cache.bodies() == [body])
    // The work was not done, so the intent is kept for the next command.
    #expect(intent != nil)
    intent = nil
    #expect(cache.opening.finishIntents().removedFiles == 1)
    #expect(try cache.bodies() == [] && cache.intents() == [])
  }

  @Test func `intents of other caches are kept`() throws {
    let (cache, other) = (try Cache(), try Cache())
    let body = try other.makeBody(1)
    let intent = Intent(try other.place(), removed: 0, added: 0, names: [body])
    try cache.leave(text(of: intent))
    #expect(cache.opening.finishIntents() == FinishedIntents())
    #expect(try cache.intents().count == 1 && other.bodies() == [body])
    // Intents are kept for 90 days.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -91 * 86_400)],
      ofItemAtPath: "\(cache.intentPath)/\(try cache.intents()[0])")
    #expect(cache.opening.finishIntents() == FinishedIntents())
    #expect(try cache.intents() == [])
  }

  @Test func `invalid intents are removed, unless others can write to the folder`() throws {
    let cache = try Cache()
    let body = try cache.makeBody(1)
    try cache.leave(Array("none".utf8))
    try cache.leave([UInt8](repeating: 0, count: 10_000))
    try cache.leave([])
    try FileManager.default.createSymbolicLink(
      atPath: "\(cache.intentPath)/intent-link", withDestinationPath: cache.path(of: body))
    try "".write(toFile: "\(cache.intentPath)/notes", atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: cache.intentPath)
    #expect(cache.opening.finishIntents() == FinishedIntents())
    #expect(try cache.intents().count == 5)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: cache.intentPath)
    var expected = FinishedIntents()
    expected.damagedIntents = 3
    #expect(cache.opening.finishIntents() == expected)
    #expect(try cache.intents() == ["notes"] && cache.bodies() == [body])
  }

  @Test func `a failure to write an intent is reported and stops nothing`() throws {
    let reports = Monitor<[FileError?]>([])
    func folder(_ path: String?) -> IntentFolder {
      IntentFolder(at: path) { error in reports.update { $0.append(error) } }
    }
    let cache = try Cache()
    #expect(folder(nil).begin(try cache.place()) == nil)
    #expect(folder("/dev/null/intents").begin(try cache.place()) == nil)
    try FileManager.default.createSymbolicLink(
      atPath: "\(cache.folder.path)/link", withDestinationPath: cache.intentPath)
    #expect(folder("\(cache.folder.path)/link").begin(try cache.place()) == nil)
    let kinds = reports.wait(until: { _ in true }) { $0.map { $0?.kind } }
    #expect(kinds == [nil, .notFound, .notFound] || kinds == [nil, .notFound, .symbolicLink])
  }

  @Test func `an interrupted erasure is known until everything is overwritten`() throws {
    let cache = try Cache()
    #expect(!cache.opening.mayHaveUnfinishedErasure())
    do {
      let record = try #require(cache.opening.beginErasure())
      // While its command runs, it is not interrupted.
      #expect(!cache.opening.mayHaveUnfinishedErasure())
      withExtendedLifetime(record) {}
    }
    #expect(cache.opening.mayHaveUnfinishedErasure())
    // Other commands leave the record.
    #expect(cache.opening.finishIntents() == FinishedIntents())
    #expect(cache.opening.mayHaveUnfinishedErasure())
    // One record is enough, however many commands are interrupted.
    cache.opening.beginErasure()?.replaceOthers()
    #expect(try cache.intents().count == 1)
    cache.opening.beginErasure()?.finish()
    #expect(try cache.intents() == [])
    #expect(!cache.opening.mayHaveUnfinishedErasure())
  }

  @Test func `without records, an erasure may be unfinished`() throws {
    let cache = try Cache()
    var opening = cache.opening
    opening.intents = IntentFolder(at: nil) { _ in }
    #expect(opening.beginErasure() == nil && opening.mayHaveUnfinishedErasure())
    opening.intents = IntentFolder(at: "\(cache.folder.path)/none") { _ in }
    #expect(!opening.mayHaveUnfinishedErasure())
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: cache.intentPath)
    #expect(cache.opening.mayHaveUnfinishedErasure())
  }

  private func text(of intent: Intent) -> [UInt8] {
    Intent.header(intent.place) + intent.removed.flatMap(Intent.line)
      + intent.added.flatMap { Intent.line(added: $0) }
  }
}

extension Intent {
  fileprivate init(_ place: Place, removed: Int = 0, added: Int = 0, names: [String] = []) {
    self.init(
      place: place,
      removed: (0..<removed).map { number in
        RemovedFile(
          name: ByteString("R\(number)"),
          version: FileVersion(number: .max, modified: .min, size: ByteCount(number)))
      },
      added: (0..<added).map { ByteString("A\($0)") } + names.map { ByteString($0) })
  }
}

/// A cache with a folder for intents.
private struct Cache {
  let folder: Folder
  let opening: StoreOpening
  var intentPath: String { "\(folder.path)/intents" }

  init() throws {
    folder = try Folder()
    opening = StoreOpening(
      path: "\(folder.path)/cache", wait: 1_000,
      now: try #require(Timestamp(secondsSince1970: Date().timeIntervalSince1970)),
      intents: IntentFolder(at: "\(folder.path)/intents") { error in
        Issue.record("\(String(describing: error))")
      })
    try AppleStoreWriter(
      creating: "\(folder.path)/cache", schema: .version203, isDurable: false
    ).finish()
    for name in ["cache/fsCachedData", "intents"] {
      try? FileManager.default.createDirectory(
        atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
  }

  func path(of body: String) -> String { "\(folder.path)/cache/fsCachedData/\(body)" }

  func write(_ text: String, to body: String) throws {
    try text.write(toFile: path(of: body), atomically: false, encoding: .utf8)
  }

  func makeBody(_ number: Int) throws -> String {
    let name = "0000000A-0000-0000-0000-00000000000\(number)"
    try write("12345", to: name)
    return name
  }

  func insertRow(for body: String) throws {
    _ = try Tool.output(
      "sqlite3", "\(folder.path)/cache/Cache.db",
      "INSERT INTO cfurl_cache_receiver_data (isDataOnFS, receiver_data) VALUES (1, '\(body)')")
  }

  func place() throws -> Intent.Place {
    try #require(Intent.Place(.apple, "\(folder.path)/cache/fsCachedData"))
  }

  func leaveIntent(removing removed: [String], adding added: [String]) throws {
    var text = Intent.header(try place())
    for name in removed {
      let version = try #require(FileVersion(try FileStatus.of(path(of: name))))
      text += Intent.line(.init(name: ByteString(name), version: version))
    }
    try leave(text + added.flatMap { Intent.line(added: ByteString($0)) })
  }

  func leave(_ text: [UInt8]) throws {
    try Data(text).write(to: URL(filePath: "\(intentPath)/intent-1-\(UUID().uuidString)"))
  }

  func bodies() throws -> [String] { try folder.names(in: "cache/fsCachedData") }
  func intents() throws -> [String] { try folder.names(in: "intents") }

  func attributes(of body: String) throws -> [FileAttributeKey: Any] {
    try FileManager.default.attributesOfItem(atPath: path(of: body))
  }
}
