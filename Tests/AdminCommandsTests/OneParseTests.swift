@testable import AdminCommands
import ArgumentParser
import Bytes
import Foundation
import ResponseStorage
import TestSupport
import Testing

/// Tests that every part of the program interprets a command line in the same way.
@Suite struct OneParseTests {
  private let now = Timestamp(secondsSince1970: 1_767_225_600)

  @Test func `the last cache is cleaned by its own limits`() throws {
    let file = """
      [caches.shop]
      path = "/shop"
      max-entries = 1
      [caches.news]
      path = "/news"
      max-entries = 8
      """
    let result = try run(
      ["-c", "shop", "enforce", "-c", "news", "--yes", "--no-verify"], configuration: file)
    #expect(result.removed == [.row(1), .row(2)])
  }

  @Test(arguments: [["-ny"], ["-n", "-y"], ["-yn"], ["--dry-run", "--yes"]])
  func `a dry run leaves no trace in metrics and logs`(flags: [String]) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (metrics, log) = (folder.path() + "/m.prom", folder.path() + "/log")
    let result = try run(
      ["purge", "-c", "x", "--all", "--metrics-file", metrics, "--log", log] + flags)
    #expect(result.status == .done && result.removed == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()) == [])
  }

  @Test(arguments: [
    (["--format", "json", "--format", "table"], false),
    (["--format", "table", "--format", "json"], true), (["--", "--format=json"], false),
    (["--format=json"], true), (["--where", "--format=json"], true),
    (["--format", "table", "--format=json"], true),
  ])
  func `an error is written in the effective format`(words: [String], isJSON: Bool) throws {
    for line in [["list", "--bogus"], ["purge"], ["list", "-c", "memory"]] {
      let result = try run(line + words + (line.count > 2 ? [] : ["--where", "("]))
      #expect(result.status == .usage || result.status == .done)
      guard result.status == .usage else { continue }
      #expect(result.messages.hasPrefix("{") == isJSON, "\(line + words) \(result.messages)")
    }
  }

  @Test func `standard input is read once, for all caches`() throws {
    let urls = (1...5).map { "https://a.example/\($0)\n" }.joined()
    let file = "[caches.a]\npath = '/a'\n[caches.b]\npath = '/b'\n"
    let result = try run(
      ["purge", "--url-file", "-", "--all-caches", "--yes", "--no-verify"], configuration: file,
      input: urls)
    #expect(result.status == .done)
    #expect(result.removed == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5].map { .row($0) })
  }

  @Test func `a list for all caches reports only names that no cache has`() throws {
    let file = "[caches.a]\npath = '/a'\n[caches.b]\npath = '/b'\n"
    let urls = "https://a.example/1\nhttps://a.example/none\n"
    for verb in [["purge", "--yes", "--no-verify"], ["list"]] {
      let words = verb + ["--url-file", "-", "--all-caches"]
      let result = try run(words, configuration: file, input: urls)
      #expect(result.status == .no, "\(verb)")
      let absence = "error: no entry has the URL 'https://a.example/none'\n"
      #expect(result.messages.hasSuffix(absence), "\(result.messages)")
      #expect(result.messages.components(separatedBy: absence).count == 2, "\(result.messages)")
    }
  }

  @Test func `a list of URLs is the same to enforce from standard input and from a file`()
    throws
  {
    let urls = (3...7).map { "https://a.example/\($0)\n" }.joined()
    let list = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try urls.write(to: list, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: list) }
    let words = ["enforce", "-c", "x", "--max-entries", "5", "--yes", "--no-verify", "--url-file"]
    let fromInput = try run(words + ["-"], input: urls)
    let fromFile = try run(words + [list.path()])
    #expect(fromInput == fromFile)
    #expect(fromInput.removed == [3, 4, 5, 6, 7].map { .row($0) })
  }

  @Test(arguments: [
    "orphan", "foo", "ORPHANS", "orphans,foo", "orphans,", "all", "--orphans", "orphans,orphan",
  ])
  func `a kind of repair that does not exist is refused and nothing is repaired`(kinds: String)
    throws
  {
    let result = try run(["check", "-c", "x", "--repair=\(kinds)", "--yes"])
    #expect(result.status == .usage && result.removed == [] && result.output == "")
    let word = kinds.split(separator: ",", omittingEmptySubsequences: false).first {
      $0 != "orphans"
    }
    #expect(
      result.messages.hasPrefix(
        "error: '\(word ?? "")' is not a kind of repair\nhint: use one of: rows, bodies,"
          + " undecodable, orphans, sidecars\n"), "\(result.messages)")
  }

  @Test func `an empty list of kinds is refused and nothing is repaired`() throws {
    let result = try run(["check", "-c", "x", "--repair=", "--yes"])
    #expect(result.status == .usage && result.removed == [] && result.output == "")
    #expect(
      result.messages == """
        error: '--repair=' has no value; a shell variable may be empty
        hint: name the kinds of repair, or use '--repair' for all of them

        """)
  }

  @Test func `'--all-caches' is offered where it is supported, and refused elsewhere`() throws {
    for command in URLCacheAdmin.configuration.subcommands {
      let verb = command._commandName
      let help = try run(["help", verb]).output
      let takesAll = command is any AllCachesCommand.Type || verb == "metrics"
      #expect(help.contains("--all-caches") == takesAll, "\(verb)")
    }
    for words in [
      ["purge", "--all", "--backup", "x.tar"], ["purge", "--all", "--plan", "x.json"],
    ] {
      let result = try run(
        words + ["--all-caches", "--yes"], configuration: "[caches.a]\npath = '/a'\n")
      #expect(result.status == .usage && result.removed == [])
      #expect(
        result.messages
          == "error: '\(words[2])' names one file, but '--all-caches' needs one for each cache\n"
          + "hint: run the command once for each cache, with '-c NAME'\n")
    }
  }

  @Test(arguments: [
    ["enforce", "-c", "x", "--max-entries", "2", "--yes", "--no-verify"], ["list", "-c", "x"],
    ["purge", "-c", "x", "--stored-before", "2025-01-01", "--yes"],
  ])
  func `the interpretation of an option is reported once`(words: [String]) throws {
    let result = try run(words + ["--at", "2026-01-02", "--where", "stored > 2020-01-01"])
    let notes = result.messages.split(separator: "\n").filter { $0.contains("note: reading ") }
    #expect(notes.count == Set(notes).count && notes.count >= 2, "\(result.messages)")
  }

  private func run(
    _ words: [String], configuration: String? = nil, input: String = ""
  ) throws -> CommandLineResult {
    let now = try #require(now)
    let store = MemoryStore(
      (1...10 as ClosedRange<Int64>).map { number in
        var response = StoredResponse(id: .row(number))
        response.url = ByteString("https://a.example/\(number)")
        response.key = response.url
        response.stored = Timestamp(secondsSince1970: 1_760_000_000 + Double(number))
        response.bodySize = 1
        response.bodyLocation = .inline
        return response
      })
    let path = "/home/a/.config/urlcache-admin/config.toml"
    return CommandLineResult.running(
      words, on: store, now: now, input: Array(input.utf8),
      files: configuration.map { [path: $0] } ?? [:], variables: ["HOME": "/home/a"])
  }
}
