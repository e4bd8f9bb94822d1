import ResponseStorage

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
  private static func key(_ name: String, _ summary: String, for use: String) -> AuditRule {
    AuditRule(
      "secret/\(name)", .error, summary,
      "Anyone who can read the cache, or a backup of it, can \(use).", fix: Fix.rotate)
  }

  static let privateKey = AuditRule(
    "secret/private-key", .error, "a private key in PEM format",
    "Anyone who can read the cache can sign and decrypt with it.", fix: Fix.rotate)
  static let jwt = AuditRule(
    "secret/jwt", .error, "a JSON Web Token that is still valid",
    "It works for anyone who has it, until it expires.", fix: Fix.noStore)
  static let expiredJWT = AuditRule(
    "secret/expired-jwt", .note, "a JSON Web Token that has expired",
    "It no longer works, but still contains claims about the user.", fix: Fix.noStore)
  static let bearerToken = AuditRule(
    "secret/bearer-token", .error, "a bearer token",
    "It works for anyone who has it.", fix: Fix.ephemeral)
  static let basicAuth = AuditRule(
    "secret/basic-auth", .error, "a user name and a password for Basic authentication",
    "Base64 is not encryption: anyone can read the password.", fix: Fix.ephemeral)
  static let authorization = AuditRule(
    "secret/authorization", .warning, "credentials in a header field of the request",
    "Anyone who can read the cache can send requests with them.",
    fix: Fix.ephemeral)
  static let cookie = AuditRule(
    "secret/cookie", .warning, "a session cookie in a stored request",
    "Anyone who has the cookie is signed in as the user.", fix: Fix.ephemeral)
  static let setCookie = AuditRule(
    "secret/set-cookie", .warning, "a session cookie in a stored response",
    "Anyone who has the cookie is signed in as the user, and the cache keeps returning it.",
    fix: "Send 'Cache-Control: no-store', or 'no-cache=\"Set-Cookie\"', and purge the entry.")
  static let urlCredentials = AuditRule(
    "secret/url-credentials", .error, "a user name and a password in a URL",
    "URLs end up in logs, histories and reports.", fix: Fix.header)
  static let signedURL = AuditRule(
    "secret/signed-url", .warning, "a signed URL that is still valid",
    "Anyone who has the URL can download the file until the URL expires.",
    fix: "Let the signature expire within minutes, and do not store the response that contains it.")
  static let expiredSignedURL = AuditRule(
    "secret/expired-signed-url", .note, "a signed URL that has expired",
    "It no longer works, but each signature adds another entry for the same file.",
    fix: "Store the file under a URL without the signature, or do not store it.")
  static let oauthCode = AuditRule(
    "secret/oauth-code", .warning, "an OAuth authorization code in a URL",
    "Until it is redeemed, it gives access to the account.",
    fix: "Do not store the redirect, and use PKCE.")
  static let oauthToken = AuditRule(
    "secret/oauth-token", .error, "a token in a field such as 'access_token'",
    "It works for anyone who has it, and a refresh token often works for months.", fix: Fix.noStore)
  static let sessionID = AuditRule(
    "secret/session-id", .warning, "a session id in a URL or a body",
    "Anyone who has the id is signed in as the user.", fix: Fix.noStore)
  static let password = AuditRule(
    "secret/password", .error, "a password in a URL, a form or JSON",
    "Many people reuse passwords, and the cache stores this one in clear text.",
    fix:
      "Never send passwords back, answer requests that contain one with 'no-store', and purge the entry."
  )
  static let apiKey = AuditRule(
    "secret/api-key", .warning, "a random value in a field whose name suggests a key or a secret",
    "It is probably a credential.", fix: Fix.rotate)
  static let awsKeyID = AuditRule(
    "secret/aws-access-key-id", .warning, "the id of an AWS access key",
    "The id alone gives no access, but the secret key is usually nearby.", fix: Fix.rotate)
  static let awsSecretKey = key("aws-secret-key", "an AWS secret key", for: "use the AWS account")
  static let googleAPIKey = AuditRule(
    "secret/google-api-key", .warning, "a Google API key",
    "Unless the key is restricted, anyone can use it at its owner's expense.",
    fix: "Restrict the key to the app and to the APIs that the app needs.")
  static let googleServiceAccount = key(
    "gcp-service-account", "the key of a Google Cloud service account",
    for: "act as the service account")
  static let googleToken = key(
    "google-oauth", "a Google access token", for: "use the Google account")
  static let azureKey = key(
    "azure-key", "an Azure Storage key", for: "read and change everything in the storage account")
  static let gitHub = key("github-token", "a GitHub token", for: "use the GitHub account")
  static let gitLab = key("gitlab-token", "a GitLab token", for: "use the GitLab account")
  static let slack = key("slack-token", "a Slack token", for: "use the Slack account")
  static let slackWebhook = key(
    "slack-webhook", "the URL of a Slack webhook", for: "post messages to the channel")
  static let stripe = key("stripe-key", "a Stripe secret", for: "use the Stripe account")
  static let twilio = key("twilio-key", "a Twilio API key", for: "use the Twilio account")
  static let sendGrid = key(
    "sendgrid-key", "a SendGrid API key", for: "send mail from the SendGrid account")
  static let npm = key("npm-token", "an npm token", for: "use the npm account")
  static let pypi = key("pypi-token", "a PyPI token", for: "publish packages from the PyPI account")
  static let openAI = key("openai-key", "an OpenAI API key", for: "use the OpenAI account")
  static let anthropic = key(
    "anthropic-key", "an Anthropic API key", for: "use the Anthropic account")
  static let huggingFace = key(
    "huggingface-token", "a Hugging Face token", for: "use the Hugging Face account")
  static let shopify = key("shopify-token", "a Shopify token", for: "use the Shopify account")
  static let digitalOcean = key(
    "digitalocean-token", "a DigitalOcean token", for: "use the DigitalOcean account")
  static let docker = key("docker-token", "a Docker Hub token", for: "use the Docker Hub account")
  static let vault = key(
    "vault-token", "a HashiCorp Vault token", for: "read the secrets in the vault")
  static let telegram = key("telegram-token", "the token of a Telegram bot", for: "control the bot")
  static let discordWebhook = key(
    "discord-webhook", "the URL of a Discord webhook", for: "post messages to the channel")

  /// The rules about credentials.
  static let secrets = [
    privateKey, jwt, expiredJWT, bearerToken, basicAuth, authorization, cookie, setCookie,
    urlCredentials, signedURL, expiredSignedURL, oauthCode, oauthToken, sessionID, password, apiKey,
    awsKeyID, awsSecretKey, googleAPIKey, googleServiceAccount, googleToken, azureKey, gitHub,
    gitLab, slack, slackWebhook, stripe, twilio, sendGrid, npm, pypi, openAI, anthropic,
    huggingFace, shopify, digitalOcean, docker, vault, telegram, discordWebhook,
  ]
}
