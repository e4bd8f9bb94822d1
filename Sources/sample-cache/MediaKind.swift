/// A media type of sample bodies.
struct MediaKind {
  /// The start and end of a body; text or noise is in between.
  enum Content {
    case text(opening: String, closing: String)
    case noise(magic: [UInt8])
  }

  /// The value of `Content-Type`.
  let contentType: String
  /// The media type without parameters.
  let mimeType: String
  /// The prefix and suffix of the path of URLs of this kind.
  let pathPrefix: String
  let pathSuffix: String
  /// The median size of bodies, in bytes, and its standard deviation as a power of two.
  let medianSize: Double
  let doublings: Double
  /// The contents of bodies.
  let content: Content
  /// The relative frequency of the kind.
  let weight: Int

  /// Whether servers compress bodies of this kind.
  var isCompressible: Bool {
    if case .text = content { true } else { false }
  }

  // Apart from the others, as errors have a body of JSON whatever was asked for.
  static let json = Self(
    contentType: "application/json; charset=utf-8", mimeType: "application/json",
    pathPrefix: "/api/v2/items/", pathSuffix: "", medianSize: 1_400, doublings: 1.6,
    content: .text(opening: #"{"status":"ok","text":""#, closing: #""}"#), weight: 30)

  static let all = [
    json,
    Self(
      contentType: "text/html; charset=utf-8", mimeType: "text/html", pathPrefix: "/articles/",
      pathSuffix: ".html", medianSize: 9_000, doublings: 1.2,
      content: .text(opening: "<!doctype html><title>Sample</title><p>", closing: "</p>\n"),
      weight: 10),
    Self(
      contentType: "text/css", mimeType: "text/css", pathPrefix: "/assets/css/", pathSuffix: ".css",
      medianSize: 6_000, doublings: 1.4, content: .text(opening: "/* ", closing: " */\n"),
      weight: 5),
    Self(
      contentType: "application/javascript", mimeType: "application/javascript",
      pathPrefix: "/assets/js/", pathSuffix: ".js", medianSize: 18_000, doublings: 1.7,
      content: .text(opening: "// ", closing: "\n"), weight: 10),
    Self(
      contentType: "text/xml", mimeType: "text/xml", pathPrefix: "/configuration/",
      pathSuffix: ".plist", medianSize: 2_500, doublings: 1.3,
      content: .text(opening: "<?xml version=\"1.0\"?><text>", closing: "</text>\n"), weight: 6),
    Self(
      contentType: "image/png", mimeType: "image/png", pathPrefix: "/images/", pathSuffix: ".png",
      medianSize: 7_000, doublings: 1.7,
      content: .noise(magic: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D]),
      weight: 14),
    Self(
      contentType: "image/jpeg", mimeType: "image/jpeg", pathPrefix: "/photos/",
      pathSuffix: ".jpg", medianSize: 26_000, doublings: 1.3,
      content: .noise(magic: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10, 0x4A, 0x46, 0x49, 0x46, 0]),
      weight: 14),
    Self(
      contentType: "image/webp", mimeType: "image/webp", pathPrefix: "/thumbnails/",
      pathSuffix: ".webp", medianSize: 5_000, doublings: 1.2,
      content: .noise(magic: Array("RIFF\0\0\0\0WEBPVP8 ".utf8)), weight: 6),
    Self(
      contentType: "font/woff2", mimeType: "font/woff2", pathPrefix: "/fonts/",
      pathSuffix: ".woff2", medianSize: 24_000, doublings: 0.7,
      content: .noise(magic: Array("wOF2\0\u{1}\0\0".utf8)), weight: 2),
    Self(
      contentType: "application/octet-stream", mimeType: "application/octet-stream",
      pathPrefix: "/download?file=", pathSuffix: "", medianSize: 60_000, doublings: 1.6,
      content: .noise(magic: []), weight: 2),
    Self(
      contentType: "text/plain", mimeType: "text/plain", pathPrefix: "/notes/", pathSuffix: ".txt",
      medianSize: 900, doublings: 1.5, content: .text(opening: "", closing: "\n"), weight: 1),
  ]

  /// Every kind, repeated by its weight.
  static let weighted = all.flatMap { Array(repeating: $0, count: $0.weight) }
}
