import Bytes
import Testing

@testable import Secrets

/// Returns the ids of the rules that a text breaks.
private func rules(
  _ text: String, _ context: SecretDetector.Context = .text
) -> [String] {
  SecretScanner.matches(in: Array(text.utf8), context, now: .epoch).map { $0.rule.rawValue }
}

/// Joins parts at run time, so that no scanner takes the source of a test for a leak.
private func key(_ parts: String...) -> String { parts.joined() }

@Suite struct SecretScannerTests {
  static let random = "q7Zk2XvB9mT4wLr8Yc1Hd6Nf3Pj5Gs0A"

  @Test(arguments: [
    ("secret/aws-access-key-id", key("AK", "IAQ7ZK2XVB4MT4WLR6")),
    ("secret/google-api-key", key("AI", "za", random, "xYz")),
    ("secret/google-oauth", key("ya", "29.", random)),
    ("secret/github-token", key("gh", "p_", random, "9bVn")),
    ("secret/github-token", key("github", "_pat_", random, random)),
    ("secret/gitlab-token", key("gl", "pat-", "q7Zk2XvB9mT4wLr8Yc1H")),
    ("secret/slack-token", key("xo", "xb-123456789012-", random)),
    (
      "secret/slack-webhook",
      key("https://hooks.slack", ".com/services/T0A1B2C3D/B4E5F6G7H/", random)
    ),
    ("secret/stripe-key", key("sk", "_live_", random)),
    ("secret/twilio-key", key("S", "K0a1b2c3d4e5f60718293a4b5c6d7e8f9")),
    ("secret/sendgrid-key", key("S", "G.q7Zk2XvB9mT4wLr8Yc1Hd6.", random, "q7Zk2XvB9mT")),
    ("secret/npm-token", key("np", "m_", random, "9bVn")),
    ("secret/pypi-token", key("py", "pi-AgE", random, random)),
    ("secret/openai-key", key("sk", "-proj-", random, random)),
    ("secret/anthropic-key", key("sk", "-ant-api03-", random, random)),
    ("secret/huggingface-token", key("h", "f_", random, "9b")),
    ("secret/telegram-token", key("1234567890:", "AA", random, "9")),
  ])
  func `a key of a service is found by its format`(rule: String, text: String) {
    #expect(rules(text) == [rule])
    #expect(rules("{\"value\":\"\(text)\"}") == [rule])
    #expect(rules("https://example.com/?x=\(text)&y=1", .fields) == [rule])
    #expect(rules("var x='\(text)';", .script) == [rule])
    // Part of a longer word, it is something else.
    #expect(!rules("a\(text)").contains(rule) || rule.hasSuffix("webhook"))
  }

  @Test(arguments: [
    ("secret/oauth-token", "<a><access_token>@</access_token></a>"),
    ("secret/oauth-token", "<ns:SessionToken xmlns:ns='x'>\n  @ \n</ns:SessionToken>"),
    ("secret/oauth-token", "<token><![CDATA[@]]></token>"),
    ("secret/oauth-token", "<dict>\n<key>access_token</key>\n  <string>@</string></dict>"),
    ("secret/api-key", "<key>api-key</key><string>@</string>"),
    ("secret/password", "<login><user>bob</user><password>hunter2!</password></login>"),
    ("secret/oauth-token", "<input type='hidden' name='access_token' value='@'>"),
    ("secret/oauth-token", "<input value=\"@\" id=\"x\" name=\"access_token\">"),
    ("secret/oauth-token", "<meta name=\"auth-token\"\n content=\"@\">"),
  ])
  func `values in markup are found by the names of their elements`(rule: String, text: String) {
    let text = text.split(separator: "@", omittingEmptySubsequences: false)
      .joined(separator: "q7Zk2XvB9mT4wLr8Yc1Hd6Nf")
    #expect(rules(text) == [rule])
    if rule != "secret/password" { #expect(rules(text, .script) == [rule]) }
  }

  @Test(arguments: [
    "<p>access_token</p>", "<access_token/>", "<access_token></access_token>",
    "<access_token>YOUR_ACCESS_TOKEN_HERE</access_token>", "</access_token>@",
    "<!access_token>@", "<key>title</key><string>@</string>", "<string>@</string>",
    "<a name=\"access_token\"></a><b value=\"@\">", "<meta name=\"csrf-token\" content=\"@\">",
    "<option value=\"@\">", "a > b > @", "<b>access_token</b> @",
  ])
  func `markup without a secret has none`(text: String) {
    let text = text.split(separator: "@", omittingEmptySubsequences: false)
      .joined(separator: "q7Zk2XvB9mT4wLr8Yc1Hd6Nf")
    #expect(rules(text) == [])
    #expect(rules(text, .script) == [])
  }

  @Test(arguments: [
    ("secret/oauth-token", "access_token", "q7Zk2XvB9mT4wLr8Yc1Hd6Nf"),
    ("secret/password", "password", "hunter2!"),
    ("secret/api-key", "client_secret", "q7Zk2XvB9mT4wLr8Yc1Hd6Nf"),
    ("secret/github-token", "note", key("gh", "p_", random, "9bVn")),
  ])
  func `a secret is found in the part of a form, and in the Base64 of JSON`(
    rule: String, name: String, value: String
  ) {
    let type = "Content-Type: text/plain; charset=utf-8"
    for end in ["\r\n", "\n"] {
      let head = "Content-Disposition: form-data; name=\"\(name)\""
      #expect(rules("--x\(end)\(head)\(end)\(end)\(value)\(end)--x--") == [rule])
      #expect(rules("\(head)\(end)\(type)\(end)\(end)\(value)") == [rule])
      if name != "note" {
        #expect(rules("\(head)\(end)\(value)\(end)\(end)x") == [])
        #expect(rules("x; name=\"\(name)\"\(end)\(end)\(value)") == [])
      }
    }
    for json in ["{\"\(name)\":\"\(value)\"}", "{\"a\":1,\"\(name)\":\"\(value)\",\"n\":2}"] {
      let text = String(decoding: Base64.encode(Array(json.utf8)), as: UTF8.self)
      let safe = text.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }
      for form in [text, String(safe)] {
        #expect(rules(form) == [rule])
        #expect(rules("{\"value\":\"\(form)\"}") == [rule])
        #expect(rules("https://example.com/?x=\(form)&y=1", .fields) == [rule])
        #expect(rules("a\(form)") == [] || name == "note")
      }
      // A name tells as much.
      #expect(rules("access_token=\(safe)", .fields) == ["secret/oauth-token"])
      #expect(rules("Authorization: Bearer \(safe)") == ["secret/bearer-token"])
    }
    let harmless = Base64.encode(Array("{\"page\":2,\"title\":\"\(name)\"}".utf8))
    #expect(rules(String(decoding: harmless, as: UTF8.self)) == [])
  }

  @Test(arguments: [
    ("secret/oauth-token", "page=2&access_token=\(random)"),
    ("secret/password", "user=jane&password=hunter2!"),
    ("secret/oauth-token", "https://example.com/callback?access_token=\(random)"),
    ("secret/oauth-token", "<?xml version='1.0'?><a><access_token>\(random)</access_token></a>"),
    ("secret/oauth-token", "<input type=\"hidden\" name=\"access_token\" value=\"\(random)\">"),
    ("secret/oauth-token", "<dict><key>access_token</key><string>\(random)</string></dict>"),
    ("secret/github-token", "bplist00\u{1}\u{2}\(key("gh", "p_", random, "9bVn"))\u{0}"),
    ("secret/jwt", "bearer is \(header).eyJzdWIiOiIxIiwiZXhwIjoxMDAwfQ.c2lnbmF0dXJl"),
  ])
  func `a secret is found in the Base64 of every kind of text, wherever it is`(
    rule: String, inner: String
  ) {
    let text = String(decoding: Base64.encode(Array(inner.utf8)), as: UTF8.self)
    let safe = String(text.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" })
    for (before, after) in [
      ("", ""), ("{\"value\":\"", "\"}"), ("[1,\"", "\"]"), ("data:text/plain;base64,", ""),
      ("<d>", "</d>"), ("a ", " b"), ("https://example.com/?x=", "&y=1"),
      ("https://example.com/api/v1/", ""), ("https://localhost/", "/more"), ("/a/", "?b"),
    ] {
      #expect(rules(before + safe + after) == [rule], "\(before)")
      // Slashes of the standard alphabet would end it in a path.
      if !before.contains("/") || !text.contains("/") {
        #expect(rules(before + text + after) == [rule], "\(before)")
      }
    }
    // Twice in Base64, and in the middle of a word, it is not looked for.
    #expect(rules(String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self)) == [])
    #expect(rules("x" + safe) == [])
  }

  @Test(arguments: [
    "The page=2 of nothing, and no secret in it", "<html><body><p>Hello, world</p></body></html>",
    "page=2&sort=name&order=ascending", "https://example.com/?page=2&sort=name",
  ])
  func `harmless text in Base64 has no secret`(inner: String) {
    #expect(rules(String(decoding: Base64.encode(Array(inner.utf8)), as: UTF8.self)) == [])
  }

  @Test(arguments: [
    ("secret/password", #"{"user":"a","password":"hunter2!"}"#),
    ("secret/password", #"{"username":"jane.doe","password":"letmein"}"#),
    ("secret/password", #"{"a":"{\"password\":\"hunter2!\"}"}"#),
    ("secret/oauth-token", #"{"access_token":"q7Zk2XvB9mT4wLr8Yc1Hd6Nf"}"#),
    ("secret/oauth-token", #"{"refreshToken" : "q7Zk2XvB9mT4wLr8Yc1Hd6Nf"}"#),
    ("secret/session-id", #"{"sessionId":"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"}"#),
    ("secret/api-key", #"{"client_secret":"q7Zk2XvB9mT4wLr8Yc1Hd6Nf"}"#),
    ("secret/api-key", #"const apiKey = "q7Zk2XvB9mT4wLr8Yc1Hd6Nf";"#),
    ("secret/aws-secret-key", #"aws_secret_access_key = q7Zk2XvB9mT4wLr8Yc1Hd6Nf3Pj5Gs0A/bVnM+eR"#),
    ("secret/bearer-token", "curl -H 'Authorization: Bearer q7Zk2XvB9mT4wLr8Yc1Hd6Nf'"),
    ("secret/basic-auth", "Authorization: Basic amFuZTpodW50ZXIyIQ=="),
    ("secret/url-credentials", #"{"db":"postgres://jane:hunter2@db.internal/app"}"#),
    ("privacy/email", #"{"email":"jane@corp.test"}"#),
  ])
  func `a secret is found by its name`(rule: String, text: String) {
    #expect(rules(text) == [rule])
  }

  @Test(arguments: [
    #"{"password":"Passwort","username":"Benutzername"}"#,
    #"{"password":"Your password must have 8 characters","passwordHint":"at least 1 digit"}"#,
    #"{"nextPageToken":"CAUQAAq7Zk2XvB9mT4wLr8Yc1Hd6Nf"}"#,
    #"{"password":null,"token":"","secret":"********"}"#,
    #"{"token":"{{ACCESS_TOKEN}}","apiKey":"YOUR_API_KEY"}"#,
    "a.password=b.value;c.token=e.getTokenFromLocalStorage();",
    "the bearer token is a string, and basic understanding helps",
    "WWW-Authenticate: Bearer realm=\"example\", error=\"invalid_token\"",
    "eyJ.css eyJhbGciOiJIUzI1NiJ9.css",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "https://example.com:8080/@user/profile",
    "sk-learn sk-feature-image-placeholder-with-a-long-name-and-words",
  ])
  func `harmless text has no secret`(text: String) {
    #expect(rules(text) == [])
  }

  static let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"

  @Test func `a web token has a header with alg, and its expiry counts`() {
    // {"sub":"1","exp":1000} and {"sub":"1","exp":-1} at 1970-01-01.
    let later = "\(Self.header).eyJzdWIiOiIxIiwiZXhwIjoxMDAwfQ.c2lnbmF0dXJl"
    #expect(rules(later) == ["secret/jwt"])
    let at2000 = SecretScanner.matches(
      in: Array(later.utf8), .text, now: Timestamp(secondsSince1970: 2_000)!)
    #expect(at2000.map { $0.rule.rawValue } == ["secret/expired-jwt"])
    #expect(at2000.first?.expires == 1_000)
    // {"typ":"JWT","x":1}: no algorithm.
    #expect(rules("eyJ0eXAiOiJKV1QiLCJ4IjoxfQ.eyJzdWIiOiIxIn0.c2ln") == [])
  }

  @Test func `a signed URL is found in JSON, and its expiry counts`() {
    let url =
      "https://b.s3.amazonaws.com/f?X-Amz-Credential=AKIAQ7ZK2XVB4MT4WLR6%2F2026&X-Amz-Date=20260131T120000Z"
      + "&X-Amz-Expires=600&X-Amz-Signature=0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
    #expect(rules(url, .fields) == ["secret/signed-url"])
    #expect(rules("{\"u\":\"\(url)\"}") == ["secret/signed-url"])
    let matches = SecretScanner.matches(
      in: Array(url.utf8), .fields, now: Timestamp(secondsSince1970: 1_769_861_400)!)
    // 2026-01-31 12:10:00.
    #expect(matches.map(\.expires) == [1_769_861_400])
    #expect(matches.map { $0.rule.rawValue } == ["secret/expired-signed-url"])
    let azure =
      "https://a.blob.core.windows.net/c/f?sv=2022-11-02&se=2030-01-01&sig=q7Zk2XvB9mT4wLr8Yc1Hd6Nf%3D"
    #expect(rules(azure, .fields) == ["secret/signed-url"])
    #expect(rules("https://example.com/?sig=q7Zk2XvB9mT4wLr8Yc1Hd6Nf", .fields) == [])
  }

  @Test func `what is found does not depend on the pieces`() {
    let random = Self.random
    var text: [UInt8] = []
    for index in 0..<200 {
      text += Array("{\"index\":\(index),\"text\":\"".utf8)
      text += Array(repeating: UInt8(ascii: "x"), count: index * 37 % 1_900)
      text += Array("\",\"access_token\":\"\(index)\(random)\", \"k\":\"gh".utf8)
      text += Array("p_\(random)9b\(100 + index)\"}".utf8)
    }
    func found(in sizes: [Int]) -> [SecretMatch] {
      var (scanner, result, place, turn) = (
        SecretScanner(.text, now: .epoch), [SecretMatch](), 0, 0
      )
      while place < text.count {
        let end = min(text.count, place + sizes[turn % sizes.count])
        scanner.append(text[place..<end]) { result.append($0) }
        (place, turn) = (end, turn + 1)
      }
      scanner.finish { result.append($0) }
      return result
    }
    let whole = SecretScanner.matches(in: text, .text, now: .epoch)
    #expect(whole.count == 400)
    for sizes in [[1_000], [7, 4_096, 1], [65_536], [100_000, 3]] {
      #expect(found(in: sizes) == whole)
    }
    // The offset is that of the secret.
    for match in whole {
      #expect(text[Int(match.offset)...].starts(with: match.value.bytes))
    }
  }
}

@Suite struct HostileSecretTests {
  /// Text that seems to have a secret at each place, and has none.
  private static let texts = [
    "pwd=", "\"password\":", "token:", "-eyJ", ".eyJ", "eyJhbGciOiJIUzI1NiJ9", "a:b@", "@", "sig=",
    "X-Amz-Signature=aaaaaaaaaaaaaaaaaaaa&", "sk-", "xoxb-", "-----BEGIN ", "bearer ", "Basic ",
    "ghp_", "//a:b", "email=a@",
    "dG9rZW49eHh4", "/dG9rZW49eHh4eHh4eHh4eHh4eHh4eHh4", "\"aaaaaaaaaaaaaaaaaaaaaaaaa",
  ]

  @Test(arguments: texts)
  func `hostile text costs little`(part: String) {
    let text = Array(repeating: Array(part.utf8), count: 40_000 / part.utf8.count).flatMap { $0 }
    let clock = ContinuousClock()
    let time = clock.measure {
      for context in [SecretDetector.Context.fields, .text, .script] {
        _ = SecretScanner.matches(in: text, context, now: .epoch)
      }
    }
    // Not optimized, and beside other tests; quadratic time would take minutes.
    #expect(time < .seconds(60))
  }

  @Test func `a token has at most five parts`() {
    let header = "eyJhbGciOiJIUzI1NiJ9"
    let text = Array(repeatElement(header, count: 2_000).joined(separator: ".").utf8)
    let matches = SecretScanner.matches(in: text, .text, now: .epoch)
    #expect(matches.allSatisfy { $0.value.bytes.count <= 5 * header.utf8.count + 4 })
  }
}
