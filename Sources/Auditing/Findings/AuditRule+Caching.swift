import ResponseStorage

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
