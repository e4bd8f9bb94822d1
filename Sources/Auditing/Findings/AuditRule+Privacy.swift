import ResponseStorage

extension AuditRule {
  static let authorizedShared = AuditRule(
    "privacy/authorized-response", .error,
    "a fresh response to a request with 'Authorization' that the cache returns to any request",
    "After another user signs in, the cache still returns the data of the first user.",
    fix: "Send 'Cache-Control: private, no-cache' or 'Vary: Authorization', and purge the entry.")
  static let cookieShared = AuditRule(
    "privacy/cookie-response", .warning,
    "a fresh response to a request with a cookie that the cache returns to any request",
    "After another user signs in, the cache still returns the data of the first user.",
    fix: "Send 'Cache-Control: private, no-cache' or 'Vary: Cookie', and purge the entry.")
  static let setCookieShared = AuditRule(
    "privacy/set-cookie-shared", .warning,
    "a fresh response with 'Set-Cookie' that the cache returns to any request",
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
    credentialsInClearText, readableByOthers, personalDataInURL, email,
  ]
}
