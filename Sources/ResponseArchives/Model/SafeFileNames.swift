import Bytes
import Files
import ResponseStorage

/// Assigns file names to bodies, in folders by scheme, host and path, that are valid on every file system.
///
/// The names are ASCII, have a bounded length and never lead out of the folder. No two differ only in case, and none
/// is both a file and a folder: a digest of the URL makes such names unique.
struct SafeFileNames {
  // File systems allow 255 bytes for a name, of which marks, digests and extensions need some.
  /// The maximum length of a path component, in bytes.
  private static let longestPart = 120
  /// The maximum depth; deeper components are joined into one.
  private static let mostParts = 16

  /// The names in use, by their path in lowercase, since some file systems ignore case.
  private var taken = ["index.json": Place(path: "index.json", isFolder: false)]

  /// The next suffix for a path and a URL. A cache can contain one URL in any number of partitions, and trying
  /// suffixes from 1 for each would take quadratic time.
  private var counts: [String: Int] = [:]

  private struct Place {
    var path: String
    var isFolder: Bool
  }

  /// A name, and the folders to create for it.
  struct Name: Hashable {
    /// The path of the file, with slashes.
    var path: String
    /// The paths of the folders that do not exist yet, outer ones first.
    var newFolders: [String] = []
  }

  /// Returns a new unique name.
  ///
  /// - Parameters:
  ///   - url: The URL of the response.
  ///   - mimeType: The media type, which determines the extension if the URL has none.
  mutating func name(for url: ByteString, _ mimeType: ByteString?) -> Name {
    // 64 bits are enough to tell the URLs of a cache apart. If they ever collide, the counter does.
    let digest = String(Digest(of: url.bytes).hexadecimal.prefix(16))
    var parts = Self.parts(of: url, digest)
    let file = Self.withExtension(parts.removeLast(), mimeType)
    var name = Name(path: "")
    for part in parts {
      name.path = place(part, in: name.path, digest, isFolder: true, &name.newFolders)
    }
    name.path = place(file, in: name.path, digest, isFolder: false, &name.newFolders)
    return name
  }

  /// Reserves a unique path for a component.
  private mutating func place(
    _ part: String, in folder: String, _ digest: String, isFolder: Bool,
    _ newFolders: inout [String]
  ) -> String {
    let path = folder.isEmpty ? part : "\(folder)/\(part)"
    var candidate = path
    let repeated = path + digest
    var count = counts[repeated] ?? 1
    while let there = taken[candidate.lowercased()] {
      // Folder names that differ only in case share one folder.
      if isFolder, there.isFolder { return there.path }
      let mark = "~\(digest)" + (count == 1 ? "" : "~\(count)")
      candidate = isFolder ? path + mark : Self.marked(path, mark)
      count += 1
    }
    if count > 1 { counts[repeated] = count }
    taken[candidate.lowercased()] = Place(path: candidate, isFolder: isFolder)
    if isFolder { newFolders.append(candidate) }
    return candidate
  }

  /// Returns a path with a suffix before its extension.
  private static func marked(_ path: String, _ mark: String) -> String {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    guard let dot = path.utf8[start...].lastIndex(of: UInt8(ascii: ".")) else { return path + mark }
    return String(path[..<dot]) + mark + String(path[dot...])
  }

  // MARK: - Parts

  /// Returns the path components of a URL: scheme, host with port, and the path with the query.
  private static func parts(of url: ByteString, _ digest: String) -> [String] {
    let url = URLParts(url.bytes)
    var path = url.path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if path.first?.isEmpty ?? false { path.removeFirst() }
    var last = safe(path.popLast() ?? [])
    if last.isEmpty { last = "index" }
    // `?` is not allowed in file names on Windows, and `@` is rare in paths.
    if let query = url.query { last += "@" + String(safe(query).prefix(60)) }
    let authority = url.authority?.bytes ?? []
    var parts = [
      safe(url.scheme ?? Array("unknown".utf8)[...]),
      // A colon separates a drive or a stream on Windows, and folders on old Macs.
      safe(authority.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "_") : $0 }[...]),
    ]
    parts += path.map { safe($0) }
    if parts.count > mostParts {
      let rest = parts[mostParts...].joined(separator: "+")
      parts = Array(parts[..<mostParts]) + [rest]
    }
    return (parts + [last]).map { bounded($0, digest) }
  }

  /// Percent-escapes everything except some ASCII characters. Existing escapes are kept.
  private static func safe(_ text: ArraySlice<UInt8>) -> String {
    String(decoding: text.percentEscaped(unless: isSafe), as: UTF8.self)
  }

  private static func isSafe(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "._~@+,=-%".utf8.contains(byte)
    }
  }

  /// Returns a component that is not too long and has no special meaning on any system.
  private static func bounded(_ part: String, _ digest: String) -> String {
    if part.isEmpty { return "%" }
    // `.` and `..` would lead out of the folder. A name of more dots is invalid on Windows.
    if part.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }) {
      return String(repeating: "%2E", count: min(part.utf8.count, 30))
    }
    var part = part
    if part.utf8.count > longestPart {
      part = String(part.prefix(longestPart - digest.utf8.count - 1)) + "~" + digest
    }
    let stem = part.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)[0]
    let isDevice = devices.contains(String(decoding: Array(stem), as: UTF8.self).lowercased())
    if isDevice { return "_" + part }
    // Windows drops a full stop at the end of a name.
    return part.utf8.last == UInt8(ascii: ".") ? part + "_" : part
  }

  /// The device names of Windows, which are reserved with any extension.
  private static let devices = Set(
    ["con", "prn", "aux", "nul"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] })

  /// Returns a name with an extension: its own, or that of the media type.
  private static func withExtension(_ name: String, _ mimeType: ByteString?) -> String {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isExtended =
      parts.count > 1 && 1...8 ~= parts[parts.count - 1].count && !parts[0].isEmpty
      && parts[parts.count - 1].allSatisfy {
        isSafe($0) && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "@")
      }
    guard !isExtended, let type = mimeType?.asciiLowercased.string, let ending = endings[type]
    else { return name }
    return "\(name).\(ending)"
  }

  private static let endings = [
    "application/javascript": "js", "application/json": "json", "application/pdf": "pdf",
    "application/wasm": "wasm", "application/xml": "xml", "application/zip": "zip",
    "audio/mp4": "m4a", "audio/mpeg": "mp3", "font/woff": "woff", "font/woff2": "woff2",
    "image/avif": "avif", "image/gif": "gif", "image/heic": "heic", "image/jpeg": "jpg",
    "image/png": "png", "image/svg+xml": "svg", "image/webp": "webp", "image/x-icon": "ico",
    "text/css": "css", "text/csv": "csv", "text/html": "html", "text/javascript": "js",
    "text/plain": "txt", "text/xml": "xml", "video/mp4": "mp4", "video/quicktime": "mov",
    "video/webm": "webm",
  ]
}

/// UUIDs derived from a name (version 5, RFC 9562 §5.5): the same name always gives the same UUID.
enum NameUUID {
  /// The namespace of this program.
  private static let namespace: [UInt8] = [
    0x5C, 0x8E, 0x1B, 0x0A, 0x93, 0x6D, 0x4F, 0x27, 0xA1, 0x42, 0x7E, 0x90, 0xD3, 0x58, 0xB6, 0xC4,
  ]

  /// Returns the UUID of a name.
  static func make(of name: [UInt8]) -> String {
    var digest = SHA1Digest()
    digest.update(namespace[...])
    digest.update(name[...])
    var bytes = Array(digest.bytes.prefix(16))
    // The version (5) and the variant of RFC 9562 §4.
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    return String(decoding: Base16.uuid(bytes), as: UTF8.self)
  }
}

/// A URL whose characters that are invalid in a URI are percent-escaped (RFC 3986 §2).
///
/// Every archive format uses the same URI for an entry, so that archives can be compared.
struct EscapedURI: Hashable {
  /// The URI, in ASCII.
  let bytes: [UInt8]

  /// Escapes a URL.
  init(_ url: ByteString) {
    // Nearly all URLs are valid already, and need no copy.
    let isEscaped = url.bytes.allSatisfy(\.mayBeInURL)
    bytes = isEscaped ? url.bytes : url.bytes.percentEscaped(unless: \.mayBeInURL)
  }

  /// Escapes a URL; `nil` if it has no scheme.
  init?(absolute url: ByteString) {
    self.init(url)
    // WARC-Target-URI must be an absolute URI (WARC 1.1, "WARC-Target-URI").
    if URLParts(bytes).scheme == nil { return nil }
  }

  /// The URI as a byte string.
  var text: ByteString { ByteString(bytes) }

  /// Whether the scheme is `http` or `https`.
  var isOfHTTP: Bool {
    let start = bytes.prefix(8).map(\.asciiLowercased)
    return start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8)
  }
}
