import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines about the user info that an application attached to responses.
@Suite struct UserInfoTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test(
    arguments: [
      (["a"], "1\n2\n"), (["a=text"], "1\n"), (["a=Text"], ""), (["a=7"], "2\n"), (["a=7.0"], ""),
      (["b=true"], "1\n"), (["b=1"], ""), (["b=2.50"], "2\n"), (["b=nan"], ""), (["none"], ""),
      (["a=text", "b=2.5"], "1\n2\n"), (["c=d=e"], "1\n"), (["c="], ""), (["e="], "2\n"),
      (["date=2025-12-30T00:00:00Z"], "1\n"), (["date=2025-12-30T01:00:00+01:00"], "1\n"),
      (["date=2025-12-30"], ""), (["list"], "1\n2\n"), (["list=[]"], ""),
    ] as [([String], String)])
  func `a key selects alone or with its value`(_ criteria: [String], _ ids: String) {
    let result = run(
      ["--format", "tsv", "--columns", "id"] + criteria.flatMap { ["--user-info", $0] })
    #expect(result.status == .done)
    #expect(result.output == "id\n" + ids)
  }

  @Test(arguments: ["", "=", "=value"])
  func `a criterion without a key is refused`(_ criterion: String) {
    let result = run(["--user-info", criterion])
    #expect(result.status == .usage)
    #expect(
      result.messages.hasPrefix(
        "error: '--user-info': '\(criterion)' does not name a key\nhint: use 'KEY' or 'KEY=VALUE'\n"
      ))
  }

  @Test func `an age is relative to a date under a key`() {
    let basis = ["--age-basis", "user-info:date", "--format", "tsv", "--columns", "id"]
    let note = "note: entries not selected because their age is unknown: 2\n"
    let days = { (result: CommandLineResult) in (result.output, result.messages.contains(note)) }
    #expect(days(run(basis + ["--older-than", "47h"])) == ("id\n1\n", true))
    #expect(days(run(basis + ["--older-than", "48h"])) == ("id\n", true))
    #expect(days(run(basis + ["--newer-than", "49h"])) == ("id\n1\n", true))
  }

  @Test(arguments: [
    (
      "ndjson",
      """
      {"id":1,"user_info:a":"text","user_info:b":true,"user_info:list":[{"token":"***"}],\
      "user_info:token":"***","user_info:date":"2025-12-30T00:00:00Z",\
      "proto_props:Accept, Cookie":{"Cookie":"***"}}
      {"id":2,"user_info:a":7,"user_info:b":2.5,"user_info:list":{"base64":"/w=="},\
      "user_info:token":null,"user_info:date":null,"proto_props:Accept, Cookie":null}
      {"id":3,"user_info:a":null,"user_info:b":null,"user_info:list":null,"user_info:token":null,\
      "user_info:date":null,"proto_props:Accept, Cookie":null}

      """
    ),
    (
      "csv",
      """
      id,user_info:a,user_info:b,user_info:list,user_info:token,user_info:date,\
      "proto_props:Accept, Cookie"
      1,text,true,"[{""token"":""***""}]",***,2025-12-30T00:00:00Z,"{""Cookie"":""***""}"
      2,7,2.5,"{""base64"":""/w==""}",,,
      3,,,,,,

      """
    ),
    (
      "table",
      """
      ID  USER INFO:a  USER INFO:b  USER INFO:list     USER INFO:token  USER INFO:date        \
      PROTO PROPS:Accept, Cookie
       1  text         true         [{"token":"***"}]  ***              2025-12-30T00:00:00Z  \
      {"Cookie":"***"}
       2  7            2.5          {"base64":"/w=="}  -                -                     -
       3  -            -            -                  -                -                     -

      """
    ),
  ])
  func `a column shows the value of a key without secrets`(_ format: String, _ output: String) {
    let columns =
      "id,user-info:a,user-info:b,user-info:list,user-info:token,user-info:date,"
      + #"proto-props:Accept\, Cookie"#
    #expect(run(["--format", format, "--columns", columns]).output == output)
  }

  @Test func `a column shows all user info`() {
    #expect(
      run(["--format", "ndjson", "--columns", "id,user-info,proto-props", "--show-secrets"]).output
        == """
        {"id":1,"user_info":{"a":"text","b":true,"c":"d=e","date":"2025-12-30T00:00:00Z",\
        "list":[{"token":"t"}],"token":"t"},"proto_props":{"Accept, Cookie":{"Cookie":"k=v"}}}
        {"id":2,"user_info":{"a":7,"b":2.5,"e":"","list":{"base64":"/w=="}},"proto_props":{}}
        {"id":3,"user_info":{},"proto_props":{}}

        """)
    #expect(
      run(["--format", "tsv", "--columns", "id,proto-props"]).output == """
        id\tproto_props
        1\t{"Accept, Cookie":{"Cookie":"***"}}
        2\t
        3\t

        """)
  }

  @Test func `a hostile key is always escaped`() {
    let key = "\u{1B}[2J\"\t'"
    let columns = ["--columns", "user-info:\(key)"]
    #expect(run(columns).output == "USER INFO:‹U+001B›[2J\"‹U+0009›'\n-\n-\n-\n")
    #expect(
      run(columns + ["--format", "csv"]).output == "\"user_info:‹U+001B›[2J\"\"‹U+0009›'\"\n\n\n\n")
    #expect(
      run(columns + ["--format", "ndjson", "--limit", "1"]).output
        == #"{"user_info:\u001B[2J\"\t'":null}"# + "\n")
  }

  @Test(arguments: [
    ("user-info:a", "3 2 1"), ("-user-info:a", "1 2 3"), ("-user-info:b", "2 1 3"),
    ("-user-info:date", "1 2 3"), ("-user-info", "1 2 3"), ("proto-props", "2 3 1"),
  ])
  func `entries are sorted by the value of a key`(_ order: String, _ ids: String) {
    let result = run(["--format", "tsv", "--columns", "id", "--sort", order])
    #expect(result.output.split(separator: "\n").dropFirst().joined(separator: " ") == ids)
  }

  @Test(arguments: ["user-info:", "proto-props:", "user_info", "etag:a", #"user-info\,"#])
  func `an invalid column is refused`(_ name: String) {
    let result = run(["--columns", name])
    #expect(result.status == .usage)
    #expect(
      result.messages.contains(
        "unknown column '\(name.replacing(#"\"#, with: ""))'\nhint: "))
  }

  private func run(_ options: [String]) -> CommandLineResult {
    CommandLineResult.running(["list", "-c", "memory"] + options, on: store, now: now)
  }

  /// Three entries: with a date two days ago, with other values for the same keys, and without user info.
  private var store: MemoryStore {
    var (first, second) = (StoredResponse(id: .row(1)), StoredResponse(id: .row(2)))
    first.userInfo = [
      .init(key: "a", value: .text("text")), .init(key: "b", value: .boolean(true)),
      .init(key: "c", value: .text("d=e")),
      .init(
        key: "date",
        value: Timestamp(secondsSince1970: now.secondsSince1970 - 172_800).map { .date($0) }
          ?? .null),
      .init(
        key: "list", value: .array([.dictionary([.init(key: "token", value: .text("t"))])])),
      .init(key: "token", value: .text("t")),
    ]
    first.protocolProperties = [
      .init(
        key: "Accept, Cookie", value: .dictionary([.init(key: "Cookie", value: .text("k=v"))]))
    ]
    second.userInfo = [
      .init(key: "a", value: .integer(7)), .init(key: "b", value: .real(2.5)),
      .init(key: "e", value: .text("")), .init(key: "list", value: .data([0xFF])),
    ]
    return MemoryStore([first, second, StoredResponse(id: .row(3))])
  }
}
