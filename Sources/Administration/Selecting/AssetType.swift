import Bytes

/// What kind of static file a URL names, by the extension: what its name may mean depends on that.
enum AssetType: Hashable {
  /// Scripts, styles and WebAssembly: build tools make them, and people do not upload them.
  case code
  case font
  /// Pictures, sounds and films: what people upload, too.
  case media
  /// JSON: what programs write.
  case data

  private static let extensions: KeyValuePairs<AssetType, [StaticString]> = [
    .code: ["js", "mjs", "cjs", "css", "map", "wasm"],
    .font: ["woff2", "woff", "ttf", "otf", "eot"],
    .media: [
      "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "mp4", "webm", "mp3", "m4a",
      "ogg",
    ],
    .data: ["json", "manifest"],
  ]

  private static let types = Dictionary(
    uniqueKeysWithValues: extensions.flatMap { type, names in
      names.map { (number(of: ByteString(stringLiteral: $0).bytes[...]), type) }
    })

  /// The letters of an extension, which is in no need of memory: every URL has one looked up.
  private static func number(of name: ArraySlice<UInt8>) -> UInt64 {
    name.prefix(8).reduce(0) { $0 << 8 | UInt64($1.asciiLowercased) }
  }

  /// The type of a file; `nil` if its extension is none of those that static files have.
  ///
  /// - Parameter name: The last segment of a path, also with the style of a picture after it: `logo.png!small`.
  init?(ofFileNamed name: ArraySlice<UInt8>) {
    let name = Self.withoutStyle(name)
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
      name.endIndex - dot <= 9,
      let type = Self.types[Self.number(of: name[(dot + 1)...])]
    else { return nil }
    self = type
  }

  /// The name of a file without its extension and the style of a picture.
  static func stem(ofFileNamed name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let name = withoutStyle(name)
    return name[..<(name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)]
  }

  private static func withoutStyle(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    name[..<(name.firstIndex(of: UInt8(ascii: "!")) ?? name.endIndex)]
  }
}
