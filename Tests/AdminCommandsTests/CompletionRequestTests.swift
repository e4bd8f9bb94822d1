import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Requests completions like a shell.
@Suite struct CompletionRequestTests {
  private static let configuration = """
    [caches.shop]
    path = "/shop"
    [caches."a b"]
    path = "/b"
    [caches."--yes"]
    path = "/c"
    """

  @Test(
    arguments: [
      (["list", "-c", "sh"], "-c", "shop\n"),
      (["list", "-c", "/x", "--host", ""], "--host", "a-1.example\nb_2.example\n"),
      (["list", "--cache='/x'", "--host="], "--host", "a-1.example\nb_2.example\n"),
      (["-c", "shop", "list", "--host", ""], "--host", "a-1.example\nb_2.example\n"),
      (["list", "--host", ""], "--host", "\n"), (["list", "sh"], "positional@0", "shop\n"),
      (["list", "shop", "--host", ""], "--host", "a-1.example\nb_2.example\n"),
      (["list", "--status", "200", "/tmp", "--host", ""], "--host", "a-1.example\nb_2.example\n"),
      (["list", "none", "--host", ""], "--host", "\n"),
      (["list", "-c", "$(x)", "--host", ""], "--host", "\n"),
      (["list", "-c", "\"`x`\"", "--host", ""], "--host", "\n"),
      (["list", "--sort", "-lifetime"], "--limit", "\n"),
    ] as [([String], String, String)])
  func `only words without special meaning in a shell are offered`(
    _ typed: [String], _ option: String, _ offered: String
  ) throws {
    let result = try ask(["list"], option, typed)
    #expect(result == CommandLineResult(status: .done, output: offered))
  }

  @Test func `columns are appended, and chosen ones are not offered again`()
    throws
  {
    let columns = try ask(["list"], "--columns", ["list", "--columns", "id,st"]).output
    #expect(columns.hasPrefix("id,stored\nid,first-stored\n"))
    #expect(!columns.split(separator: "\n").contains("id,id"))
    let order = try ask(["list"], "--sort", ["list", "--sort", "-"]).output
    #expect(order.hasPrefix("-id\n-stored\n"))
    let inside = try ask(["list"], "--columns", ["list", "--columns", "id,st"], cursor: 2)
    #expect(inside.output.hasPrefix("id\nstored\n"))
  }

  @Test func `archives are not read, and errors are silent`() throws {
    #expect(
      try ask(["import"], "--host", ["import", "-c", "/x", "--host", ""]).output == "\n")
    #expect(
      try ask(["list"], "--host", ["list", "-c", "/x", "--host", ""], store: nil).output == "\n")
    let broken = try ask(["list"], "-c", ["list", "--config", "/none", "-c", ""])
    #expect(broken == CommandLineResult(status: .done, output: "\n"))
  }

  @Test func `zsh gets an extra line, which its script skips`() throws {
    let result = try ask(
      ["list"], "-c", ["list", "-c", ""], variables: ["SAP_SHELL": "zsh"])
    #expect(result.output == "shop\n \n")
  }

  @Test(arguments: [
    [], ["list"], ["list", "--", "--host"], ["list", "--", "--host", "x", "0", "a"],
  ])
  func `an invalid request is a usage error`(_ words: [String]) throws {
    let now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    let result = CommandLineResult.running(["---completion"] + words, now: now)
    #expect(result.status == .usage)
  }

  /// Requests the completions of the last word.
  private func ask(
    _ verbs: [String], _ option: String, _ typed: [String], cursor: Int? = nil,
    store: MemoryStore? = store, variables: [String: String] = [:]
  ) throws -> CommandLineResult {
    let cursor = cursor ?? typed.last?.unicodeScalars.count ?? 0
    return CommandLineResult.running(
      ["---completion"] + verbs + ["--", option, "\(typed.count)", "\(cursor)", "urlcache-admin"]
        + typed, on: store, now: try #require(Timestamp(secondsSince1970: 1_767_225_600)),
      files: ["/home/a/.config/urlcache-admin/config.toml": Self.configuration],
      variables: variables.merging(["HOME": "/home/a"]) { first, _ in first })
  }

  /// Responses with hosts of every kind.
  private static var store: MemoryStore {
    MemoryStore(
      [
        "b_2.example", "A-1.example", "$(x)", "`x`", "'", "\"", "-rf", "--yes", "a;b", "a\nb",
        "a\u{1B}]0;b\u{07}", "é.example", "[::1]", ".example", "a b", "~",
        String(repeating: "a", count: 256),
      ].enumerated().map { number, host in
        var response = StoredResponse(id: .row(Int64(number + 1)))
        response.url = ByteString("https://\(host)/\(number)")
        return response
      })
  }
}
