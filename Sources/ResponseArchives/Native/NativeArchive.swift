import Files
import ResponseStorage

/// The archive format that keeps everything in a store: the names of its members.
///
/// See `share/doc/urlcache-admin/native-archives.md`.
public enum NativeArchive {
  /// The name of the format, in the header.
  static let format = "urlcache-archive"

  /// The version that is written. Readers refuse any other major version.
  static let (majorVersion, minorVersion) = (1, 0) as (Int64, Int64)

  /// The first member.
  static let headerName = "urlcache-archive.json"
  /// The second to last member.
  static let manifestName = "manifest.json"
  // So an unpacked archive can be verified with tools that every system has.
  /// The last member: a line for each other member, in order, in the format of `sha256sum`.
  static let checksumsName = "SHA256SUMS"
  /// The first member of an entry.
  static let documentName = "entry.json"

  /// Returns the folder of an entry, with a trailing slash.
  ///
  /// - Parameter number: The number of the entry in the archive, starting at 1.
  static func folder(_ number: Int64) -> String {
    // Ten digits keep the order of names the order of entries in all listings. A counter instead of
    // a URL or an id rules out collisions, long names and names that mean something to a file
    // system.
    let digits = String(number)
    return "entries/" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits + "/"
  }

  /// Appends the line of ``checksumsName`` for a member.
  ///
  /// - Parameter folder: The folder of the member, if any.
  static func appendChecksum(
    _ sha256: String, of name: String, in folder: String = "", to lines: inout [UInt8]
  ) {
    lines += sha256.utf8
    lines.append("  ")
    lines += folder.utf8
    lines += name.utf8
    lines.append("\n")
  }
}

extension RawResponse.Part.Name {
  /// The name of the part's member, in the folder of its entry.
  var memberName: String {
    switch self {
    case .responseObject: "response.plist"
    case .requestObject: "request.plist"
    case .protocolProperties: "proto-props.plist"
    case .userInfo: "user-info.plist"
    case .body: "body"
    }
  }
}
