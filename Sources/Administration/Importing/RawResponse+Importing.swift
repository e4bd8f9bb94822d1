import ResponseArchives
import ResponseStorage

extension RawResponse {
  /// Why a response from a cache cannot be restored: a clause, or `nil` if it can.
  ///
  /// - Parameter bodies: The bodies that the archive contains.
  func findingAgainstRestoring(from bodies: ArchivedBodies) -> String? {
    if hasBodyFile, part(.body)?.isText == true { return "its body is text, but stored in a file" }
    if hasSparseBody { return ArchiveExport.isSparse }
    if bodies == .none, part(.body)?.content == nil {
      return "the archive was written without bodies"
    }
    return nil
  }

  /// Why no cache can contain the response: a clause, or `nil` if one can.
  var incompleteness: String? {
    guard case .text = value(of: "request_key") else { return "it has no key" }
    // The column is NOT NULL in all schemas of CFNetwork.
    guard let time = value(of: "time_stamp"), time != .null else { return "it has no time_stamp" }
    if part(.responseObject) == nil { return "its property lists are missing" }
    if hasBodyFile, part(.body)?.isText == true { return "its body is text, but stored in a file" }
    guard part(.body)?.content != nil else { return "its body is missing" }
    return nil
  }

  /// Whether the body is a sparse file.
  var hasSparseBody: Bool { part(.body)?.content?.isSparse ?? false }

  /// Whether a cache would treat both as the same; the number, the hash of the key and the location of the body may
  /// differ.
  func hasSameContents(as other: RawResponse) throws -> Bool {
    // Without `entry_ID`, which each cache assigns itself, and `hash_value`, of which real caches
    // contain two forms for the same key.
    let columns = ["version", "storage_policy", "time_stamp", "partition"]
    guard columns.allSatisfy({ value(of: $0) ?? .null == other.value(of: $0) ?? .null }) else {
      return false
    }
    for name in Part.Name.allCases {
      let (part, other) = (part(name), other.part(name))
      // Sizes first, because a digest may have to read the whole body.
      guard part?.content?.size == other?.content?.size,
        part?.isText ?? false == other?.isText ?? false,
        try part?.content?.digest() == other?.content?.digest()
      else { return false }
    }
    return true
  }
}
