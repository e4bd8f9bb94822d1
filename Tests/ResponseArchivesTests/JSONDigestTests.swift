import ResponseArchives
import ResponseStorage
import TestSupport
import Testing

struct JSONDigestTests {
  private func digest(_ text: String) throws -> String? {
    try Body(Array(text.utf8)).jsonDigest()
  }

  @Test(arguments: [
    (#"{"a":1,"b":[true,null]}"#, "{ \"b\" : [ true , null ],\n\t\"a\":1 }\n"),
    (#""\/\u0041\n\ud83d\ude00""#, #""/A\u000A😀""#), ("1.0", "1"), ("1e2", "100"),
    ("-0", "0"), ("0.10", "1e-1"), ("[]", "[ ]"), ("{\"\":{}}", " {\"\" :{ } }"),
  ])
  func `equal values have equal digests in any notation`(one: String, other: String)
    throws
  {
    #expect(try digest(one) == digest(other))
    #expect(try digest(one)?.hasPrefix("json ") == true)
  }

  @Test func `different values have different digests`() throws {
    let texts = [
      "{}", "[]", "null", "true", "false", "0", "1", "\"1\"", "\"\"", "[1]", "[1,2]", "[2,1]",
      "[[1],2]", "[[1,2]]",
      "{\"a\":1}", "{\"a\":2}", "{\"b\":1}", "{\"a\":{\"b\":1}}", "{\"a\":\"b\"}", "[\"a\",\"b\"]",
      "{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", "9007199254740993", "9007199254740992",
      "123456789012345678901234567890", "123456789012345678901234567891", "1.5", "-1",
      // Not JSON, so compared byte by byte.
      "", " ", "{", "{\"a\":1}x", "01", "nul",
    ]
    let digests = try texts.map { try digest($0) }
    #expect(Set(digests).count == texts.count)
  }

  @Test(arguments: 0..<50) func `members and white space can be anywhere`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let value = Value(depth: 0, using: &random)
    let plain = value.text(using: &random, isPlain: true)
    let other = value.text(using: &random, isPlain: false)
    #expect(try digest(plain) == digest(other), "\(plain) \(other)")
  }

  /// A JSON value with unique member names.
  private indirect enum Value {
    case text(String)
    case array([Value])
    case object([(String, Value)])

    init(depth: Int, using random: inout SplitMix64) {
      switch Int.random(in: 0..<(depth > 4 ? 1 : 3), using: &random) {
      case 0:
        self = .text(["1", "-2.5", "true", "null", "\"é\""].randomElement(using: &random) ?? "0")
      case 1:
        self = .array(
          (0..<Int.random(in: 0..<4, using: &random)).map { _ in
            Value(depth: depth + 1, using: &random)
          })
      default:
        self = .object(
          (0..<Int.random(in: 0..<4, using: &random)).map {
            ("k\($0)", Value(depth: depth + 1, using: &random))
          })
      }
    }

    func text(using random: inout SplitMix64, isPlain: Bool) -> String {
      let blank = isPlain ? "" : ["", " ", "\n", "\t "].randomElement(using: &random) ?? ""
      switch self {
      case .text(let text): return blank + text + blank
      case .array(let values):
        return "[" + values.map { $0.text(using: &random, isPlain: isPlain) }.joined(separator: ",")
          + "]" + blank
      case .object(let members):
        let order = isPlain ? members : members.shuffled(using: &random)
        return "{"
          + order.map {
            "\(blank)\"\($0.0)\"\(blank):" + $0.1.text(using: &random, isPlain: isPlain)
          }
          .joined(separator: ",") + "}" + blank
      }
    }
  }
}
