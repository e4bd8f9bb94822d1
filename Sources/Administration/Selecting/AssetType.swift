import Bytes

/// The type of a static file by its extension, which affects how its name is interpreted.
enum AssetType: Hashable {
  /// Scripts, styles and WebAssembly: made by build tools, not uploaded by users.
  case code
  case font
  /// Images, audio and video: also uploaded by users.
  case media
  /// JSON: written by programs.
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

  /// Returns an extension as a number: it is looked up for every URL, and a number needs no allocation.
  private static func number(of name: ArraySlice<UInt8>) -> UInt64 {
    name.prefix(8).reduce(0) { $0 << 8 | UInt64($1.asciiLowercased) }
  }

  /// Creates the type of a file; `nil` if its extension is not that of a static file.
  ///
  /// - Parameter name: The last segment of a path, possibly with an image style: `logo.png!small`.
  init?(ofFileNamed name: ArraySlice<UInt8>) {
    let name = Self.withoutStyle(name)
    // Longer extensions do not fit into the eight bytes of a number.
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
      name.endIndex - dot <= 9,
      let type = Self.types[Self.number(of: name[(dot + 1)...])]
    else { return nil }
    self = type
  }

  /// Returns a file name without its extension and image style.
  static func stem(ofFileNamed name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let name = withoutStyle(name)
    return name[..<(name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)]
  }

  private static func withoutStyle(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    // Image services of some content delivery networks append the name of a style after `!`.
    name[..<(name.firstIndex(of: UInt8(ascii: "!")) ?? name.endIndex)]
  }
}
