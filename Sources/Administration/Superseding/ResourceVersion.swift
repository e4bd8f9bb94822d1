public import Bytes

/// A URL as one version of a resource: what all versions have in common, and what tells this one apart.
///
/// Build tools, content networks and frameworks put a hash, a version or a date into the URL of a file that may change,
/// so a changed file has a new URL, and the response under the old one is never asked for again. URLs that a server
/// signs for a short time are the same: only the signature changes.
///
/// The rules are made for few wrong answers: what may be another resource, such as another size, another scale or
/// another photo, is one. Source: `superseded.md`, "What counts as a version".
public struct ResourceVersion: Hashable, Sendable {
  /// What tells the versions of a resource apart.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A hash in the name of the file: `app-8f3a2c1d.js`.
    case hash
    /// A version in the name of the file or of a folder: `vue-3.2.1.js`, `logo-v2.png`.
    case number
    /// A day or a moment in the name of the file: `logo_20230101.png`.
    case date
    /// A parameter of the query: `app.js?v=3`.
    case parameter
    /// A signature for a short time, of the same object: `photo.jpg?e=…&token=…`.
    case signature
  }

  /// The URL with `*` for whatever tells versions apart, and without signatures.
  public let pattern: ByteString

  /// What tells this version apart: the texts that `*` stands for in ``pattern``, in their order, each with a line feed.
  public let marker: ByteString

  /// What kind of marker the URL has; the last of ``Kind`` if it has several.
  public let kind: Kind

  /// URLs of more bytes than this are none: nobody has to wait for one that a server has made up.
  private static let longestURL = 16_384

  /// Finds the marker of a version in a URL; `nil` if there is none that is surely one.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init?(of url: ByteString) {
    guard url.bytes.count <= Self.longestURL, let parts = Parts(url.bytes) else { return nil }
    let type = AssetType(ofFileNamed: parts.fileName)
    // Nearly all URLs are told by this, and by that nothing in them has a number.
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

  /// Puts `*` in the place of each mark, and leaves signatures out.
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
      marker += bytes[cut.range] + [UInt8(ascii: "\n")]
      place = cut.range.upperBound
    }
    return (ByteString(pattern + bytes[place...]), ByteString(marker))
  }
}

extension ResourceVersion.Kind: Comparable {
  /// The order of the cases.
  public static func < (lhs: Self, rhs: Self) -> Bool {
    (allCases.firstIndex(of: lhs) ?? 0) < (allCases.firstIndex(of: rhs) ?? 0)
  }
}

extension ResourceVersion {
  /// Something in a URL that tells versions apart.
  struct Mark: Hashable {
    /// Where in the URL it is.
    let range: Range<Int>
    let kind: Kind
  }

  /// The parts of a URL of the web that versions are looked for in.
  private struct Parts {
    let bytes: [UInt8]
    /// The path up to its last `/`.
    let folders: ArraySlice<UInt8>
    /// What follows that.
    let fileName: ArraySlice<UInt8>
    /// What stands between the first `?` and the fragment.
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
