import ResponseStorage
import Secrets

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
    "Anyone who has the cookie is signed in as the user.", fix: Fix.ephemeral)
  static let setCookie = AuditRule(
    .setCookie, .warning, "a session cookie in a stored response",
    "Anyone who has the cookie is signed in as the user, and the cache keeps returning it.",
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
    "Anyone who has the id is signed in as the user.", fix: Fix.noStore)
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
