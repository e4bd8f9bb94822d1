import ResponseStorage

/// The fixes that several rules share.
private enum Fix {
  static let noStore =
    "Send 'Cache-Control: no-store' with responses that contain it, revoke it, and purge the entry."
  static let rotate =
    "Revoke the key and make a new one, keep it out of apps and responses, and purge the entry."
  static let ephemeral =
    "Load authorized requests with an ephemeral session or without a cache, and purge the entry."
  static let header =
    "Send it in 'Authorization' instead of the URL, revoke it, and purge the entry."
}

extension AuditRule {
  private static func key(_ name: String, of service: String) -> AuditRule {
    AuditRule(
      "secret/\(name)", .error, "a secret of \(service)",
      "Everyone who can read the cache, or a backup of it, can use the account at \(service).",
      fix: Fix.rotate)
  }

  static let privateKey = AuditRule(
    "secret/private-key", .error, "a private key in PEM",
    "Everyone who can read the cache can sign and decrypt with it.", fix: Fix.rotate)
  static let jwt = AuditRule(
    "secret/jwt", .error, "a JSON Web Token that is still valid",
    "A bearer token works for everyone who has it, until it expires.", fix: Fix.noStore)
  static let expiredJWT = AuditRule(
    "secret/expired-jwt", .note, "a JSON Web Token that has expired",
    "It no longer works, but contains the claims about the user.", fix: Fix.noStore)
  static let bearerToken = AuditRule(
    "secret/bearer-token", .error, "a bearer token",
    "It works for everyone who has it.", fix: Fix.ephemeral)
  static let basicAuth = AuditRule(
    "secret/basic-auth", .error, "a user name and a password of Basic authentication",
    "Base64 is no encryption: the password can be read.", fix: Fix.ephemeral)
  static let authorization = AuditRule(
    "secret/authorization", .warning, "credentials in a field of the request",
    "The stored request can be repeated, or its credentials used for another one.",
    fix: Fix.ephemeral)
  static let cookie = AuditRule(
    "secret/cookie", .warning, "a session cookie in a stored request",
    "Whoever has the cookie is signed in as the user.", fix: Fix.ephemeral)
  static let setCookie = AuditRule(
    "secret/set-cookie", .warning, "a session cookie in a stored response",
    "Whoever has the cookie is signed in as the user, and a cache returns it again and again.",
    fix: "Send 'Cache-Control: no-store', or 'no-cache=\"Set-Cookie\"', and purge the entry.")
  static let urlCredentials = AuditRule(
    "secret/url-credentials", .error, "a user name and a password in a URL",
    "URLs are written to logs, histories and reports.", fix: Fix.header)
  static let signedURL = AuditRule(
    "secret/signed-url", .warning, "a signed URL that is still valid",
    "Whoever has the URL has the file until it expires.",
    fix: "Let the signature expire within minutes, and do not store the response that contains it.")
  static let expiredSignedURL = AuditRule(
    "secret/expired-signed-url", .note, "a signed URL that has expired",
    "It no longer works, but each signature makes a new entry for the same file.",
    fix: "Store the file under a URL without the signature, or do not store it.")
  static let oauthCode = AuditRule(
    "secret/oauth-code", .warning, "an authorization code of OAuth in a URL",
    "A code that was not redeemed gives access to the account.",
    fix: "Do not store the redirect, and use PKCE.")
  static let oauthToken = AuditRule(
    "secret/oauth-token", .error, "a token in a field such as 'access_token'",
    "It works for everyone who has it, and a refresh token for months.", fix: Fix.noStore)
  static let sessionID = AuditRule(
    "secret/session-id", .warning, "the id of a session in a URL or a body",
    "Whoever has the id is signed in as the user.", fix: Fix.noStore)
  static let password = AuditRule(
    "secret/password", .error, "a password in a URL, a form or JSON",
    "People use passwords for several services, and the cache keeps it in clear.",
    fix: "Never send a password back, answer its request with 'no-store', and purge the entry.")
  static let apiKey = AuditRule(
    "secret/api-key", .warning, "a random value under the name of a key or a secret",
    "It is probably a credential.", fix: Fix.rotate)
  static let awsKeyID = AuditRule(
    "secret/aws-access-key-id", .warning, "the id of an access key of AWS",
    "The id alone gives no access, but its secret is usually nearby.", fix: Fix.rotate)
  static let awsSecretKey = key("aws-secret-key", of: "AWS")
  static let googleAPIKey = AuditRule(
    "secret/google-api-key", .warning, "an API key of Google",
    "Without restrictions, everyone can use it at the cost of its owner.",
    fix: "Restrict the key to the app and to the APIs that it needs.")
  static let googleServiceAccount = key("gcp-service-account", of: "a service account of Google")
  static let googleToken = key("google-oauth", of: "Google")
  static let azureKey = key("azure-key", of: "Azure Storage")
  static let gitHub = key("github-token", of: "GitHub")
  static let gitLab = key("gitlab-token", of: "GitLab")
  static let slack = key("slack-token", of: "Slack")
  static let slackWebhook = key("slack-webhook", of: "Slack")
  static let stripe = key("stripe-key", of: "Stripe")
  static let twilio = key("twilio-key", of: "Twilio")
  static let sendGrid = key("sendgrid-key", of: "SendGrid")
  static let npm = key("npm-token", of: "npm")
  static let pypi = key("pypi-token", of: "PyPI")
  static let openAI = key("openai-key", of: "OpenAI")
  static let anthropic = key("anthropic-key", of: "Anthropic")
  static let huggingFace = key("huggingface-token", of: "Hugging Face")
  static let shopify = key("shopify-token", of: "Shopify")
  static let digitalOcean = key("digitalocean-token", of: "DigitalOcean")
  static let docker = key("docker-token", of: "Docker")
  static let vault = key("vault-token", of: "HashiCorp Vault")
  static let telegram = key("telegram-token", of: "a Telegram bot")
  static let discordWebhook = key("discord-webhook", of: "Discord")

  /// The rules about credentials.
  static let secrets = [
    privateKey, jwt, expiredJWT, bearerToken, basicAuth, authorization, cookie, setCookie,
    urlCredentials, signedURL, expiredSignedURL, oauthCode, oauthToken, sessionID, password, apiKey,
    awsKeyID, awsSecretKey, googleAPIKey, googleServiceAccount, googleToken, azureKey, gitHub,
    gitLab, slack, slackWebhook, stripe, twilio, sendGrid, npm, pypi, openAI, anthropic,
    huggingFace, shopify, digitalOcean, docker, vault, telegram, discordWebhook,
  ]
}
