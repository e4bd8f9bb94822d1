public import Bytes
import Files

/// Finds the secrets in a text that arrives in pieces of any size.
///
/// What is found does not depend on where the pieces end. Memory is bounded by the size of a piece.
public struct SecretScanner: Sendable {
  private let context: SecretDetector.Context
  private let now: Int64
  private var window: [UInt8] = []
  /// The offset of the window in the text.
  private var offset: Int64 = 0
  /// The index in the window before which all bytes were looked at.
  private var next = 0

  /// The bytes before a place that decide about it: a name, and a signed URL up to its signature.
  private static let before = SignedURL.reach + 512
  /// The bytes after a place that decide about it: a secret, and the rest of a signed URL.
  private static let after = SecretMatch.mostBytes + SignedURL.reach + 512

  /// Creates a scanner.
  public init(_ context: SecretDetector.Context, now: Timestamp) {
    (self.context, self.now) = (context, now.wholeSeconds)
  }

  /// Looks at the next piece of the text.
  public mutating func append(_ piece: ArraySlice<UInt8>, _ found: (SecretMatch) -> Void) {
    window += piece
    look(upTo: window.count - Self.after, found)
    guard next - Self.before > 1 << 16 else { return }
    let dropped = next - Self.before
    window.removeFirst(dropped)
    offset += Int64(dropped)
    next -= dropped
  }

  /// Looks at the end of the text.
  public mutating func finish(_ found: (SecretMatch) -> Void) {
    look(upTo: window.count, found)
    window = []
  }

  private mutating func look(upTo end: Int, _ found: (SecretMatch) -> Void) {
    guard end > next else { return }
    let offset = offset
    SecretDetector(text: window, context: context, now: now).forEachMatch(in: next..<end) { match in
      var match = match
      match.offset += offset
      found(match)
    }
    next = end
  }

  /// Returns the secrets in a short text.
  public static func matches(
    in text: [UInt8], _ context: SecretDetector.Context, now: Timestamp
  ) -> [SecretMatch] {
    var result: [SecretMatch] = []
    SecretDetector(text: text, context: context, now: now.wholeSeconds)
      .forEachMatch(in: text.indices) { result.append($0) }
    return result
  }
}

/// A kind of credential, or of personal data, that is found in texts. Its raw value is the id of the rule of an audit.
public enum SecretRule: String, Hashable, Sendable, CaseIterable {
  case privateKey = "secret/private-key"
  case jwt = "secret/jwt"
  case expiredJWT = "secret/expired-jwt"
  case bearerToken = "secret/bearer-token"
  case basicAuth = "secret/basic-auth"
  case authorization = "secret/authorization"
  case cookie = "secret/cookie"
  case setCookie = "secret/set-cookie"
  case urlCredentials = "secret/url-credentials"
  case signedURL = "secret/signed-url"
  case expiredSignedURL = "secret/expired-signed-url"
  case oauthCode = "secret/oauth-code"
  case oauthToken = "secret/oauth-token"
  case sessionID = "secret/session-id"
  case password = "secret/password"
  case apiKey = "secret/api-key"
  case awsKeyID = "secret/aws-access-key-id"
  case awsSecretKey = "secret/aws-secret-key"
  case googleAPIKey = "secret/google-api-key"
  case googleServiceAccount = "secret/gcp-service-account"
  case googleToken = "secret/google-oauth"
  case azureKey = "secret/azure-key"
  case gitHub = "secret/github-token"
  case gitLab = "secret/gitlab-token"
  case slack = "secret/slack-token"
  case slackWebhook = "secret/slack-webhook"
  case stripe = "secret/stripe-key"
  case twilio = "secret/twilio-key"
  case sendGrid = "secret/sendgrid-key"
  case npm = "secret/npm-token"
  case pypi = "secret/pypi-token"
  case openAI = "secret/openai-key"
  case anthropic = "secret/anthropic-key"
  case huggingFace = "secret/huggingface-token"
  case shopify = "secret/shopify-token"
  case digitalOcean = "secret/digitalocean-token"
  case docker = "secret/docker-token"
  case vault = "secret/vault-token"
  case telegram = "secret/telegram-token"
  case discordWebhook = "secret/discord-webhook"
  case email = "privacy/email"
  case personalDataInURL = "privacy/personal-data-in-url"

  /// Whether it is a credential, which every output hides, and not personal data.
  public var isCredential: Bool { self != .email && self != .personalDataInURL }
}

/// A secret that was found in a text.
public struct SecretMatch: Hashable, Sendable {
  /// The rule that it breaks.
  public var rule: SecretRule

  /// Where it begins in the text.
  public var offset: Int64

  /// The secret, up to ``mostBytes`` of it.
  public var value: ByteString

  /// The number of bytes at its beginning that name its kind and can be shown.
  public var shownPrefix = 0

  /// When it expires, in seconds since 1970; `nil` if that is unknown.
  public var expires: Int64?

  /// The name of the field or the parameter that contains it, if there is one.
  public var name: ByteString?

  /// The most bytes of a secret that are kept. All bytes that follow are ignored.
  public static let mostBytes = 4_096

  /// Creates a match.
  init(
    _ rule: SecretRule, at offset: Int, _ value: ArraySlice<UInt8>, shownPrefix: Int = 0,
    expires: Int64? = nil, name: ByteString? = nil
  ) {
    (self.rule, self.offset, self.expires, self.name) = (rule, Int64(offset), expires, name)
    self.value = ByteString(Array(value.prefix(Self.mostBytes)))
    self.shownPrefix = shownPrefix
  }

  /// The first bytes of the SHA-256 of the secret, as 12 hexadecimal digits: the same in each run and each cache.
  public var fingerprint: String {
    String(decoding: Base16.encode(Array(Self.fingerprintBytes(of: value.bytes))), as: UTF8.self)
  }

  /// The fingerprint as a number.
  public var fingerprintNumber: UInt64 { Self.fingerprintNumber(of: value.bytes) }

  /// Returns the fingerprint of a secret as a number.
  public static func fingerprintNumber(of value: [UInt8]) -> UInt64 {
    fingerprintBytes(of: value).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func fingerprintBytes(of value: [UInt8]) -> ArraySlice<UInt8> {
    var digest = Digest()
    digest.update(value[...])
    return digest.bytes[..<6]
  }
}
