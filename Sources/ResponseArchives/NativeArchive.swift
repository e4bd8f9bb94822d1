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

  /// The folder of an entry.
  ///
  /// - Parameter number: The place of the entry in the archive, from 1 on.
  static func folder(_ number: Int64) -> String {
    let digits = String(number)
    return "entries/" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits
  }

  /// The line of ``checksumsName`` for a member.
  static func checksumLine(_ name: String, _ sha256: String) -> [UInt8] {
    var line: [UInt8] = []
    line.reserveCapacity(sha256.utf8.count + name.utf8.count + 3)
    line += sha256.utf8
    line += [0x20, 0x20]
    line += name.utf8
    line.append(0x0A)
    return line
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
