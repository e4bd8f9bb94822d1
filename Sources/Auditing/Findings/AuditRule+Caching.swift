import ResponseStorage

extension AuditRule {
  static let noValidator = AuditRule(
    "caching/no-validator", .note, "no validator",
    "Once it is stale, the whole body is downloaded again, even if nothing changed.",
    fix: "Send an 'ETag' or 'Last-Modified'.")
  static let noLifetime = AuditRule(
    "caching/no-lifetime", .note, "no lifetime",
    "Each use asks the server, so storing it saves little or nothing.",
    fix: "Send 'Cache-Control: max-age=…', or 'no-store' if it must not be stored.")
  static let heuristic = AuditRule(
    "caching/heuristic-lifetime", .note, "a lifetime that the cache guesses from 'Last-Modified'",
    "Different caches guess differently, so nobody knows how old a response the app shows.",
    fix: "Send 'Cache-Control: max-age=…'.")
  static let contradictory = AuditRule(
    "caching/contradictory", .warning, "fields or directives that contradict each other",
    "Caches disagree about which one applies.", fix: "Send one of them.")
  static let malformed = AuditRule(
    "caching/malformed", .warning, "a field or a directive that is not valid",
    "It is ignored, or makes the response stale, which is rarely what was meant.",
    fix: "Correct the field on the server.")
  static let unknownDirective = AuditRule(
    "caching/unknown-directive", .note, "a directive that no standard defines",
    "Caches ignore it.", fix: "Check its spelling.")
  static let futureDate = AuditRule(
    "caching/future-date", .warning, "a date in the future",
    "Ages and lifetimes are wrong as long as clocks differ.", fix: "Set the clock of the server.")
  static let weakReuse = AuditRule(
    "caching/weak-reuse", .note, "a response that is hardly ever used again",
    "It takes space, and is loaded again for nearly each request.",
    fix: "Send 'no-store', or vary on fewer fields.")
  static let errorKept = AuditRule(
    "caching/error-kept", .warning, "an error response",
    "The app sees the error until the entry is stale, even if the server has recovered.",
    fix: "Send 'Cache-Control: no-store' with errors, and purge the entry.")
  static let redirectKept = AuditRule(
    "caching/redirect-kept", .note, "a redirect",
    "The app is sent to the old place until the entry is stale.",
    fix: "Give redirects a short lifetime.")
  static let postAnswer = AuditRule(
    "caching/post-answer", .warning, "the response to a request that is not GET",
    "The key has no method and no body, so another request for the URL may receive it.",
    fix: "Do not store it: return nil in 'urlSession(_:dataTask:willCacheResponse:)'.")
  static let duplicates = AuditRule(
    "caching/tracking-duplicates", .note,
    "the same URL several times, with different tracking parameters",
    "The parameters do not change the response, and each copy takes space.",
    fix: "Remove the parameters before the request.")
  static let uncompressed = AuditRule(
    "caching/uncompressed", .note, "text that was sent without compression",
    "Gzip or Brotli would send a fraction of the bytes.", fix: "Compress text on the server.")
  static let largeBody = AuditRule(
    "caching/large-body", .warning, "a body larger than 5% of the capacity",
    "URLCache does not store such responses itself, and each one displaces many others.",
    fix: "Download large files to a file, or give the cache more capacity.")

  /// The rules about what makes a cache useless or wrong.
  static let caching = [
    noValidator, noLifetime, heuristic, contradictory, malformed, unknownDirective, futureDate,
    weakReuse, errorKept, redirectKept, postAnswer, duplicates, uncompressed, largeBody,
  ]
}
