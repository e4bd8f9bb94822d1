public import ResponseStorage
import Secrets

/// A rule of an audit: what it looks for, why that matters, and how to fix it.
public struct AuditRule: Sendable {
  /// The subject of a rule, the first part of its id.
  public enum Subject: String, Hashable, Sendable, CaseIterable {
    /// Credentials that are stored in clear.
    case secret
    /// Data that others can read or receive.
    case privacy
    /// What makes a cache useless or wrong.
    case caching
  }

  /// The id, such as `secret/jwt`. It never changes, because baselines and configurations name it.
  public let id: String

  /// How serious its findings are.
  public let severity: Finding.Severity

  /// What was found: a phrase.
  public let summary: String

  /// Why that matters: a sentence.
  public let reason: String

  /// How to fix it: a sentence.
  public let fix: String

  /// Creates a rule.
  init(
    _ id: String, _ severity: Finding.Severity, _ summary: String, _ reason: String, fix: String
  ) {
    (self.id, self.severity, self.summary) = (id, severity, summary)
    (self.reason, self.fix) = (reason, fix)
  }

  /// Creates a rule about a kind of secret.
  init(
    _ rule: SecretRule, _ severity: Finding.Severity, _ summary: String, _ reason: String,
    fix: String
  ) {
    self.init(rule.rawValue, severity, summary, reason, fix: fix)
  }

  /// The subject.
  public var subject: Subject {
    Subject.allCases.first { id.utf8.starts(with: $0.rawValue.utf8) } ?? .caching
  }

  /// All rules, in the order of their ids.
  public static let all = (secrets + privacy + caching).sorted { $0.id < $1.id }

  /// Returns the rule with an id; `nil` if there is none.
  public static func named(_ id: String) -> AuditRule? { byID[id] }

  /// Creates the rule that is about a kind of secret.
  init(_ rule: SecretRule) { self = Self.byID[rule.rawValue] ?? .apiKey }

  private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
}

// Rules are equal if their ids are; comparing their texts would be a waste.
extension AuditRule: Hashable {
  public static func == (one: Self, other: Self) -> Bool { one.id == other.id }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Finding.Severity {
  /// The rank, 0 for the most severe.
  public var rank: Int {
    switch self {
    case .error: 0
    case .warning: 1
    case .note: 2
    }
  }
}

extension AuditRule {
  static let noValidator = AuditRule(
    "caching/no-validator", .note, "no validator",
    "Once it is stale, the app downloads the whole body again, even if nothing has changed.",
    fix: "Send an 'ETag' or 'Last-Modified'.")
  static let noLifetime = AuditRule(
    "caching/no-lifetime", .note, "no lifetime",
    "The app asks the server before each use, so storing the response saves little or nothing.",
    fix: "Send 'Cache-Control: max-age=…', or 'no-store' if it must not be stored.")
  static let heuristic = AuditRule(
    "caching/heuristic-lifetime", .note, "a lifetime that the cache guesses from 'Last-Modified'",
    "Caches guess differently, so the age of the data that the app shows is left to chance.",
    fix: "Send 'Cache-Control: max-age=…'.")
  static let contradictory = AuditRule(
    "caching/contradictory", .warning, "fields or directives that contradict each other",
    "Caches disagree about which one applies.", fix: "Send only one of them.")
  static let malformed = AuditRule(
    "caching/malformed", .warning, "an invalid field or directive",
    "Caches ignore it or treat the response as stale, which is rarely intended.",
    fix: "Correct it on the server.")
  static let unknownDirective = AuditRule(
    "caching/unknown-directive", .note, "a directive that no standard defines",
    "Caches ignore it.", fix: "Check its spelling.")
  static let futureDate = AuditRule(
    "caching/future-date", .warning, "a date in the future",
    "Caches calculate wrong ages and lifetimes until the clocks agree.",
    fix: "Correct the clock of the server.")
  static let weakReuse = AuditRule(
    "caching/weak-reuse", .note, "a response that is hardly ever used again",
    "It takes up space, and nearly every request downloads it again.",
    fix: "Send 'no-store', or vary on fewer fields.")
  static let errorKept = AuditRule(
    "caching/error-kept", .warning, "a stored error response",
    "The app sees the error until the entry is stale, even if the server has recovered.",
    fix: "Send 'Cache-Control: no-store' with errors, and purge the entry.")
  static let redirectKept = AuditRule(
    "caching/redirect-kept", .note, "a stored redirect",
    "The app follows it until the entry is stale, even if the server has changed it.",
    fix: "Give redirects a short lifetime.")
  static let postAnswer = AuditRule(
    "caching/post-answer", .warning, "the response to a request other than GET",
    "The key contains no method and no body, so another request for the URL may receive it.",
    fix: "Do not store it: return nil in 'urlSession(_:dataTask:willCacheResponse:)'.")
  static let duplicates = AuditRule(
    "caching/tracking-duplicates", .note,
    "the same URL several times, with different tracking parameters",
    "The parameters do not change the response, and each copy takes up space.",
    fix: "Remove the parameters before sending the request.")
  static let uncompressed = AuditRule(
    "caching/uncompressed", .note, "text that was sent without compression",
    "Compressed with gzip or Brotli, it would be a fraction of the size.",
    fix: "Compress text on the server.")
  static let largeBody = AuditRule(
    "caching/large-body", .warning, "a body larger than 5% of the capacity",
    "URLCache itself does not store such responses, and each one displaces many others.",
    fix: "Load large files with download tasks, or give the cache more capacity.")

  /// The rules about what makes a cache useless or wrong.
  static let caching = [
    noValidator, noLifetime, heuristic, contradictory, malformed, unknownDirective, futureDate,
    weakReuse, errorKept, redirectKept, postAnswer, duplicates, uncompressed, largeBody,
  ]
}

extension AuditRule {
  static let authorizedShared = AuditRule(
    "privacy/authorized-response", .error,
    "a fresh response to a request with 'Authorization' that the cache returns for any request",
    "After another user signs in, the cache still returns the data of the first user.",
    fix: "Send 'Cache-Control: private, no-cache' or 'Vary: Authorization', and purge the entry.")
  static let cookieShared = AuditRule(
    "privacy/cookie-response", .warning,
    "a fresh response to a request with a cookie that the cache returns for any request",
    "After another user signs in, the cache still returns the data of the first user.",
    fix: "Send 'Cache-Control: private, no-cache' or 'Vary: Cookie', and purge the entry.")
  static let setCookieShared = AuditRule(
    "privacy/set-cookie-shared", .warning,
    "a fresh response with 'Set-Cookie' that the cache returns for any request",
    "The cache gives the cookie of one user to the next.",
    fix:
      "Send 'Cache-Control: private, no-cache', or set no cookies in responses that may be stored.")
  static let storedNoStore = AuditRule(
    "privacy/no-store", .warning, "an entry that was stored despite 'no-store'",
    "The server or the app decided that it must not be on disk.",
    fix: "Purge the entry, and find out which code stores it: URLCache itself does not.")
  static let clearText = AuditRule(
    "privacy/clear-text", .warning, "a response that was loaded over HTTP, without encryption",
    "Anyone on the network can read and change the response, and the cache keeps the change.",
    fix: "Use HTTPS, and remove the exception from App Transport Security.")
  static let credentialsInClearText = AuditRule(
    "privacy/credentials-over-http", .error,
    "credentials that were sent over HTTP, without encryption",
    "Anyone on the network could read them.", fix: "Use HTTPS, and revoke the credentials.")
  static let readableByOthers = AuditRule(
    "privacy/readable-by-others", .warning, "a file of the cache that other users can read",
    "Anyone with an account on this machine can read the responses and the credentials in them.",
    fix: "Remove the permissions: run 'chmod -R go-rwx' on the folder of the cache.")
  static let listed = AuditRule(
    "privacy/listed", .warning, "a file that lists URLs and header fields of the cache",
    "It repeats URLs and header fields, with cookies, also those of entries that are removed later.",
    fix: "Remove the file. 'purge --all' removes it as well.")
  static let personalDataInURL = AuditRule(
    "privacy/personal-data-in-url", .warning, "personal data in a URL",
    "URLs end up in the logs of servers and proxies, in histories and in reports.",
    fix: "Send it in the body of a request whose response is not stored.")
  static let email = AuditRule(
    "privacy/email", .note, "an email address in a field of a body",
    "It is personal data, which the cache keeps after the user signs out.",
    fix: "Send 'Cache-Control: no-store' with personal data, and empty the cache at sign-out.")

  /// The rules about data that others can read or receive.
  static let privacy = [
    authorizedShared, cookieShared, setCookieShared, storedNoStore, clearText,
    credentialsInClearText, readableByOthers, listed, personalDataInURL, email,
  ]
}

/// The fixes that several rules share.
private enum Fix {
  static let noStore =
    "Send 'Cache-Control: no-store' with responses that contain it, revoke it, and purge the entry."
  static let rotate =
    "Revoke it, create a new one and keep it out of apps and responses, and purge the entry."
  static let ephemeral =
    "Send authorized requests from an ephemeral session or without a cache, and purge the entry."
  static let header =
    "Send it in 'Authorization' instead of the URL, revoke it, and purge the entry."
}

extension AuditRule {
  /// Creates a rule about the key of a service.
  ///
  /// - Parameter use: What can be done with the key.
  private static func key(_ rule: SecretRule, _ summary: String, for use: String) -> AuditRule {
    AuditRule(
      rule, .error, summary,
      "Anyone who can read the cache, or a backup of it, can \(use).", fix: Fix.rotate)
  }

  static let privateKey = AuditRule(
    .privateKey, .error, "a private key in PEM format",
    "Anyone who can read the cache can sign and decrypt with it.", fix: Fix.rotate)
  static let jwt = AuditRule(
    .jwt, .error, "a JSON Web Token that is still valid",
    "It works for anyone who has it, until it expires.", fix: Fix.noStore)
  static let expiredJWT = AuditRule(
    .expiredJWT, .note, "a JSON Web Token that has expired",
    "It no longer works, but still contains claims about the user.", fix: Fix.noStore)
  static let bearerToken = AuditRule(
    .bearerToken, .error, "a bearer token",
    "It works for anyone who has it.", fix: Fix.ephemeral)
  static let basicAuth = AuditRule(
    .basicAuth, .error, "a user name and a password for Basic authentication",
    "Base64 is not encryption: anyone can read the password.", fix: Fix.ephemeral)
  static let authorization = AuditRule(
    .authorization, .warning, "credentials in a header field of the request",
    "Anyone who can read the cache can send requests with them.",
    fix: Fix.ephemeral)
  static let cookie = AuditRule(
    .cookie, .warning, "a session cookie in a stored request",
    "Anyone with the cookie can act as the user.", fix: Fix.ephemeral)
  static let setCookie = AuditRule(
    .setCookie, .warning, "a session cookie in a stored response",
    "Anyone with the cookie can act as the user, and the cache keeps returning it.",
    fix: "Send 'Cache-Control: no-store', or 'no-cache=\"Set-Cookie\"', and purge the entry.")
  static let urlCredentials = AuditRule(
    .urlCredentials, .error, "a user name and a password in a URL",
    "URLs end up in logs, histories and reports.", fix: Fix.header)
  static let signedURL = AuditRule(
    .signedURL, .warning, "a signed URL that is still valid",
    "Anyone who has the URL can download the file until the URL expires.",
    fix: "Let the signature expire within minutes, and do not store the response that contains it.")
  static let expiredSignedURL = AuditRule(
    .expiredSignedURL, .note, "a signed URL that has expired",
    "It no longer works, but each signature adds another entry for the same file.",
    fix: "Store the file under a URL without the signature, or do not store it.")
  static let oauthCode = AuditRule(
    .oauthCode, .warning, "an OAuth authorization code in a URL",
    "Until it is redeemed, it gives access to the account.",
    fix: "Do not store the redirect, and use PKCE.")
  static let oauthToken = AuditRule(
    .oauthToken, .error, "a token in a field such as 'access_token'",
    "It works for anyone who has it, and a refresh token often works for months.", fix: Fix.noStore)
  static let sessionID = AuditRule(
    .sessionID, .warning, "a session id in a URL or a body",
    "Anyone with the id can act as the user.", fix: Fix.noStore)
  static let password = AuditRule(
    .password, .error, "a password in a URL, a form or JSON",
    "Many people reuse passwords, and the cache stores this one in clear text.",
    fix:
      "Never send passwords back, answer requests that contain one with 'no-store', and purge the entry."
  )
  static let apiKey = AuditRule(
    .apiKey, .warning, "a random value in a field whose name suggests a key or a secret",
    "It is probably a credential.", fix: Fix.rotate)
  static let awsKeyID = AuditRule(
    .awsKeyID, .warning, "the id of an AWS access key",
    "The id alone gives no access, but the secret key is usually nearby.", fix: Fix.rotate)
  static let awsSecretKey = key(.awsSecretKey, "an AWS secret key", for: "use the AWS account")
  static let googleAPIKey = AuditRule(
    .googleAPIKey, .warning, "a Google API key",
    "Unless the key is restricted, anyone can use it at its owner's expense.",
    fix: "Restrict the key to the app and to the APIs that the app needs.")
  static let googleServiceAccount = key(
    .googleServiceAccount, "the key of a Google Cloud service account",
    for: "act as the service account")
  static let googleToken = key(
    .googleToken, "a Google access token", for: "use the Google account")
  static let azureKey = key(
    .azureKey, "an Azure Storage key", for: "read and change everything in the storage account")
  static let gitHub = key(.gitHub, "a GitHub token", for: "use the GitHub account")
  static let gitLab = key(.gitLab, "a GitLab token", for: "use the GitLab account")
  static let slack = key(.slack, "a Slack token", for: "use the Slack account")
  static let slackWebhook = key(
    .slackWebhook, "the URL of a Slack webhook", for: "post messages to the channel")
  static let stripe = key(.stripe, "a Stripe secret", for: "use the Stripe account")
  static let twilio = key(.twilio, "a Twilio API key", for: "use the Twilio account")
  static let sendGrid = key(
    .sendGrid, "a SendGrid API key", for: "send mail from the SendGrid account")
  static let npm = key(.npm, "an npm token", for: "use the npm account")
  static let pypi = key(.pypi, "a PyPI token", for: "publish packages from the PyPI account")
  static let openAI = key(.openAI, "an OpenAI API key", for: "use the OpenAI account")
  static let anthropic = key(
    .anthropic, "an Anthropic API key", for: "use the Anthropic account")
  static let huggingFace = key(
    .huggingFace, "a Hugging Face token", for: "use the Hugging Face account")
  static let shopify = key(.shopify, "a Shopify token", for: "use the Shopify account")
  static let digitalOcean = key(
    .digitalOcean, "a DigitalOcean token", for: "use the DigitalOcean account")
  static let docker = key(.docker, "a Docker Hub token", for: "use the Docker Hub account")
  static let vault = key(
    .vault, "a HashiCorp Vault token", for: "read the secrets in the vault")
  static let telegram = key(.telegram, "the token of a Telegram bot", for: "control the bot")
  static let discordWebhook = key(
    .discordWebhook, "the URL of a Discord webhook", for: "post messages to the channel")

  /// The rules about credentials.
  static let secrets = [
    privateKey, jwt, expiredJWT, bearerToken, basicAuth, authorization, cookie, setCookie,
    urlCredentials, signedURL, expiredSignedURL, oauthCode, oauthToken, sessionID, password, apiKey,
    awsKeyID, awsSecretKey, googleAPIKey, googleServiceAccount, googleToken, azureKey, gitHub,
    gitLab, slack, slackWebhook, stripe, twilio, sendGrid, npm, pypi, openAI, anthropic,
    huggingFace, shopify, digitalOcean, docker, vault, telegram, discordWebhook,
  ]
}
