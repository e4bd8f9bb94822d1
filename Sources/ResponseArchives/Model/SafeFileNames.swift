import Bytes
import Files
import ResponseStorage

/// Gives responses names for their bodies, in folders by scheme, host and path, that every file system can
/// have.
///
/// They are ASCII and of bounded length, never lead out of the folder, and no two of them differ in
/// the case of letters only; where two would, or one would be both a file and a folder, a digest of the URL tells
/// them apart.
struct SafeFileNames {
  /// A longer part is cut.
  private static let longestPart = 120
  /// What is deeper has one name together.
  private static let mostParts = 16

  /// What is there already, by its path in small letters.
  private var taken = ["index.json": Place(path: "index.json", isFolder: false)]

  /// How far the names of a path and a URL are counted: a cache can hold one URL in as many partitions
  /// as it likes, and to begin at 1 for each of them takes the square of the time.
  private var counts: [String: Int] = [:]

  private struct Place {
    var path: String
    var isFolder: Bool
  }

  /// A name, and the folders that are to be made for it, which were not needed before.
  struct Name: Hashable {
    /// The path of the file, its parts separated by slashes.
    var path: String
    /// The paths of the folders, outer ones first.
    var newFolders: [String] = []
  }

  /// Returns a name that none before had.
  ///
  /// - Parameters:
  ///   - url: The URL of the response.
  ///   - mimeType: Its media type, for the extension of a file that has none.
  mutating func name(for url: ByteString, _ mimeType: ByteString?) -> Name {
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

  /// Finds a place for a part, and takes it.
  private mutating func place(
    _ part: String, in folder: String, _ digest: String, isFolder: Bool,
    _ newFolders: inout [String]
  ) -> String {
    let path = folder.isEmpty ? part : "\(folder)/\(part)"
    var candidate = path
    let repeated = path + digest
    var count = counts[repeated] ?? 1
    while let there = taken[candidate.lowercased()] {
      // One folder is enough for names that differ by the case of letters only.
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

  /// A path with a mark before its extension.
  private static func marked(_ path: String, _ mark: String) -> String {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    guard let dot = path.utf8[start...].lastIndex(of: UInt8(ascii: ".")) else { return path + mark }
    return String(path[..<dot]) + mark + String(path[dot...])
  }

  // MARK: - Parts

  /// The parts that a URL has: scheme, host and port, and path with query.
  private static func parts(of url: ByteString, _ digest: String) -> [String] {
    let url = URLParts(url.bytes)
    var path = url.path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if path.first?.isEmpty ?? false { path.removeFirst() }
    var last = safe(path.popLast() ?? [])
    if last.isEmpty { last = "index" }
    if let query = url.query { last += "@" + String(safe(query).prefix(60)) }
    let authority = url.authority?.bytes ?? []
    var parts = [
      safe(url.scheme ?? Array("unknown".utf8)[...]),
      safe(authority.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "_") : $0 }[...]),
    ]
    parts += path.map { safe($0) }
    if parts.count > mostParts {
      let rest = parts[mostParts...].joined(separator: "+")
      parts = Array(parts[..<mostParts]) + [rest]
    }
    return (parts + [last]).map { bounded($0, digest) }
  }

  /// Text in which all but some ASCII is percent-escaped; what is escaped already stays so.
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

  /// A part that is not too long, and that no system takes for something else.
  private static func bounded(_ part: String, _ digest: String) -> String {
    if part.isEmpty { return "%" }
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
    return part.utf8.last == UInt8(ascii: ".") ? part + "_" : part
  }

  /// The names that Windows takes for devices, whatever their extension.
  private static let devices = Set(
    ["con", "prn", "aux", "nul"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] })

  /// A name with an extension: its own, or that of the media type.
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
