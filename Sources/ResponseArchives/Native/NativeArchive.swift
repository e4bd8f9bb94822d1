import Files
import ResponseStorage

/// The archive format that keeps all of a store: its members, and their names.
///
/// `share/doc/urlcache-admin/formats.md` describes it.
public enum NativeArchive {
  /// The name of the format, in the header.
  static let format = "urlcache-archive"

  /// The version that is written; a reader refuses another major one.
  static let (majorVersion, minorVersion) = (1, 0) as (Int64, Int64)

  /// The first member.
  static let headerName = "urlcache-archive.json"
  /// The last but one.
  static let manifestName = "manifest.json"
  /// The last: a line for each other member, in their order, as `sha256sum` writes them.
  static let checksumsName = "SHA256SUMS"
  /// The first member of an entry.
  static let documentName = "entry.json"

  /// The folder of an entry, with a slash at its end.
  ///
  /// - Parameter number: The place of the entry in the archive, from 1 on.
  static func folder(_ number: Int64) -> String {
    let digits = String(number)
    return "entries/" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits + "/"
  }

  /// Appends the line of ``checksumsName`` for a member.
  ///
  /// - Parameter folder: The folder of the member, if it is in one.
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
  /// The name of the member that holds the part, in the folder of its entry.
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
