public import Bytes
import ResponseStorage

/// A URL as a version of a resource: the part that all versions share, and the part that differs.
///
/// Build tools, content delivery networks and frameworks put a hash, a version or a date into the URL of a file that
/// may change. A changed file then has a new URL, and the response for the old URL is never requested again. Signed
/// URLs behave the same: only the signature changes.
///
/// The rules avoid false positives: a URL that may be another resource, such as another size, scale or photo, is not a
/// version of the first. Source: `leftovers.md`, "What counts as a version".
public struct ResourceVersion: Hashable, Sendable {
  /// What differs between the versions of a resource.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A hash in the file name: `app-8f3a2c1d.js`.
    case hash
    /// A version in the file name or a folder: `vue-3.2.1.js`, `logo-v2.png`.
    case number
    /// A date or timestamp in the file name: `logo_20230101.png`.
    case date
    /// A query parameter: `app.js?v=3`.
    case parameter
    /// A temporary signature for the same object: `photo.jpg?e=…&token=…`.
    case signature
  }

  /// The URL with `*` in place of version marks, and without signatures.
  public let pattern: ByteString

  /// The texts that `*` replaces in ``pattern``, and the signatures, in order, each followed by a line feed.
  public let marker: ByteString

  /// The kind of mark in the URL; the last in the order of ``Kind`` if there are several.
  public let kind: Kind

  /// The length limit for URLs, in bytes: a server could make up long URLs to slow down the search.
  private static let longestURL = 16_384

  /// Finds the version mark in a URL; `nil` if there is no certain one.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init?(of url: ByteString) {
    guard url.bytes.count <= Self.longestURL, let parts = Parts(url.bytes) else { return nil }
    let type = AssetType(ofFileNamed: parts.fileName)
    // Rejects nearly all URLs before the search for numbers.
    guard type != nil || parts.query != nil else { return nil }
    var marks: [Mark] = []
    if let type {
      marks += FolderVersions.marks(in: parts.folders, of: type)
      marks += FileNameVersions.marks(in: parts.fileName, of: type, below: parts.folders)
    }
    let query = parts.query.map { VersionParameters(in: $0, of: type) }
    marks += query?.marks ?? []
    let signatures = query?.signatures ?? []
    guard let kind = (marks.map(\.kind) + (signatures.isEmpty ? [] : [.signature])).max() else {
      return nil
    }
    self.kind = kind
    (pattern, marker) = Self.split(parts, at: marks, without: signatures)
  }

  /// Replaces each mark with `*`, and drops signatures.
  private static func split(
    _ parts: Parts, at marks: [Mark], without signatures: [Range<Int>]
  ) -> (pattern: ByteString, marker: ByteString) {
    let bytes = parts.bytes
    let cuts =
      marks.map { (range: $0.range, replacement: [UInt8(ascii: "*")]) }
      + signatures.map { (range: $0, replacement: []) }
    var (pattern, marker): ([UInt8], [UInt8]) = ([], [])
    var place = 0
    for cut in cuts.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      pattern += bytes[place..<cut.range.lowerBound] + cut.replacement
      // Without a separator, the marks `1` and `23` would equal `12` and `3`.
      marker += bytes[cut.range] + [UInt8(ascii: "\n")]
      place = cut.range.upperBound
    }
    return (ByteString(pattern + bytes[place...]), ByteString(marker))
  }
}

extension ResourceVersion.Kind: Comparable {
  /// Compares by the order of the cases.
  public static func < (lhs: Self, rhs: Self) -> Bool {
    (allCases.firstIndex(of: lhs) ?? 0) < (allCases.firstIndex(of: rhs) ?? 0)
  }
}

extension ResourceVersion {
  /// A part of a URL that differs between versions.
  struct Mark: Hashable {
    /// The range in the URL.
    let range: Range<Int>
    let kind: Kind
  }

  /// The parts of an HTTP URL that can contain versions.
  private struct Parts {
    let bytes: [UInt8]
    /// The path before its last `/`.
    let folders: ArraySlice<UInt8>
    /// The path after its last `/`.
    let fileName: ArraySlice<UInt8>
    /// The part between the first `?` and the fragment.
    let query: ArraySlice<UInt8>?

    init?(_ url: [UInt8]) {
      let parts = URLParts(url)
      guard let scheme = parts.scheme, Self.isOfWeb(scheme),
        let authority = parts.authority, !authority.bytes.isEmpty
      else { return nil }
      let path = parts.path
      (bytes, query) = (url, parts.query)
      let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
      folders = path[..<slash]
      fileName = path[slash...].dropFirst()
    }

    private static func isOfWeb(_ scheme: ArraySlice<UInt8>) -> Bool {
      [4, 5].contains(scheme.count)
        && zip(scheme, "https".utf8).allSatisfy { $0.asciiLowercased == $1 }
    }
  }
}

/// The versions in the folders of a path: `/npm/vue@3.2.1/`, `/jquery/3.6.1/`, `/v1571218039/`.
enum FolderVersions {
  /// Returns the version marks in the folders of a file.
  static func marks(
    in folders: ArraySlice<UInt8>, of type: AssetType
  ) -> [ResourceVersion.Mark] {
    guard folders.contains(where: \.isASCIIDigit) else { return [] }
    return folders.split(separator: UInt8(ascii: "/")).flatMap { folder -> [ResourceVersion.Mark] in
      let ranges =
        if let range = commit(in: folder) ?? upload(folder, of: type) { [range] } else {
          SemanticVersion.ranges(in: folder)
        }
      return ranges.map { ResourceVersion.Mark(range: $0, kind: .number) }
    }
  }

  /// Returns the range of a Git commit after `@`.
  private static func commit(in folder: ArraySlice<UInt8>) -> Range<Int>? {
    guard let at = folder.lastIndex(of: UInt8(ascii: "@")), at > folder.startIndex else {
      return nil
    }
    let text = folder[(at + 1)...]
    // Only whole digests: a short one after `@` could be a name or a size.
    return text.count == 40 && VersionText(text).isHexadecimal ? text.indices : nil
  }

  /// Returns the range after `v`: an upload timestamp for images, or a number for fonts.
  private static func upload(_ folder: ArraySlice<UInt8>, of type: AssetType) -> Range<Int>? {
    guard folder.first == UInt8(ascii: "v") else { return nil }
    let text = VersionText(folder.dropFirst())
    let isVersion =
      switch type {
      // Cloudinary puts the second of the upload into the path.
      case .media: text.bytes.count == 10 && text.isMoment
      // Google Fonts numbers the versions of a font: `/s/roboto/v30/`.
      case .font: text.isNumber && text.bytes.count <= 3
      case .code, .data: false
      }
    return isVersion ? text.bytes.indices : nil
  }
}
