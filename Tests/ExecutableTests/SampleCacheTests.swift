import Foundation
import Testing

@Suite final class SampleCacheTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  @Test func `the same seed gives the same WebKit cache`() throws {
    try make("one", "--format", "webkit", "--entries", "300", "--seed", "5")
    try make("two", "--format", "webkit", "--entries", "300", "--seed", "5")
    let one = try files(of: "one")
    #expect(one["Version 17/salt"]?.count == 8 && one.count > 300)
    #expect(try one == files(of: "two"))
  }

  @Test(arguments: ["202", "203"])
  func `the same seed gives the same bytes`(schema: String) throws {
    try make("one", "--schema", schema, "--entries", "300", "--seed", "5")
    try make("two", "--schema", schema, "--entries", "300", "--seed", "5")
    let one = try files(of: "one")
    #expect(one.keys.contains("Cache.db") && one.count > 50)
    #expect(try one == files(of: "two"))
  }

  @Test func `another seed gives other bytes`() throws {
    try make("one", "--entries", "20", "--seed", "5")
    try make("two", "--entries", "20", "--seed", "6")
    #expect(try files(of: "one") != files(of: "two"))
  }

  @Test func `a sample without faults is consistent`() throws {
    try make("sample", "--entries", "200", "--seed", "1")
    #expect(try inspect("sample") == "200 rows, 0 bad, 0 missing, 0 orphans, 2026-01-01 00:00:00\n")
  }

  @Test func `requested faults are present`() throws {
    try make(
      "sample", "--entries", "200", "--seed", "1", "--newest", "2025-06-30T12:00:00Z", "--faults",
      "orphan-files,missing-bodies,undecodable")
    #expect(try inspect("sample") == "200 rows, 5 bad, 5 missing, 3 orphans, 2025-06-30 12:00:00\n")
  }

  @Test func `a sample can have no body files`() throws {
    try make("sample", "--entries", "200", "--seed", "1", "--no-large-bodies")
    #expect(try Set(files(of: "sample").keys) == ["Cache.db"])
  }

  @Test func `an existing cache is not modified`() throws {
    try make("sample", "--entries", "1", "--seed", "1")
    let before = try files(of: "sample")
    let path = folder.appending(component: "sample").path()
    let (status, error) = try BuiltProduct("urlcache-admin").run([
      "sample", "--entries", "1", "--seed", "2", path,
    ])
    #expect(status == 73)
    #expect(error.contains("not empty"))
    #expect(try files(of: "sample") == before)
  }

  private func make(_ name: String, _ options: String...) throws {
    let path = folder.appending(component: name).path()
    let (status, error) = try BuiltProduct("urlcache-admin").run(
      ["sample", "--newest", "2026-01-01T00:00:00Z"] + options + [path])
    try #require(status == 0, "\(error)")
  }

  /// Returns the bytes of every file in a sample, by path.
  private func files(of name: String) throws -> [String: Data] {
    let sample = folder.appending(component: name)
    var files: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: sample.path()) {
      let url = sample.appending(path: path)
      if try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
        files[path] = try Data(contentsOf: url)
      }
    }
    return files
  }

  /// Returns the findings of a Python script in a sample.
  private func inspect(_ name: String) throws -> String {
    let script = #"""
      import os, plistlib, sqlite3, sys
      os.chdir(sys.argv[1])
      rows = sqlite3.connect('Cache.db').execute(
          'SELECT time_stamp, response_object, request_object, proto_props, isDataOnFS, '
          'receiver_data FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID) '
          'JOIN cfurl_cache_receiver_data USING (entry_ID)').fetchall()
      files, bad = set(os.listdir('fsCachedData')), 0
      named = {row[5] for row in rows if row[4]}
      for row in rows:
          try:
              response = plistlib.loads(row[1])
              assert response['Version'] == 1 and len(response['Array']) in (5, 7)
          except plistlib.InvalidFileException:
              bad += 1
          request = plistlib.loads(row[2])
          assert request['Version'] == 9 and len(request['Array']) == 22
          assert row[3] is None or isinstance(plistlib.loads(row[3]), dict)
      print(f'{len(rows)} rows, {bad} bad, {len(named - files)} missing, '
            f'{len(files - named)} orphans, {max(row[0] for row in rows)}')
      """#
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, folder.appending(component: name).path()]
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
