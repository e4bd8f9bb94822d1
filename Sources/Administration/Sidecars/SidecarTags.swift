public import Bytes
public import ResponseStorage

/// The `ETag`s in a folder of sidecars, for looking up entries.
public struct SidecarTags: Hashable, Sendable {
  private let tags: [ByteString: ByteString]

  /// Reads the `ETag`s of a folder; unreadable files have none.
  public init(of folder: SidecarFolder) {
    tags = folder.files.compactMapValues(\.tag)
  }

  /// Returns the `ETag` that an app sends for a response; `nil` if there is none.
  ///
  /// The response must have been decoded for ``projection``.
  public func tag(of response: borrowing StoredResponse) -> ByteString? {
    for url in SidecarOwners.urls(of: response) {
      for name in SidecarNaming.names(of: url) {
        // The first URL is that of the request, which is the one an app has at hand when it looks
        // for the file.
        if let tag = tags[name.text] { return tag }
      }
    }
    return nil
  }

  /// The fields needed to find the `ETag` of a response.
  public static let projection = SidecarOwners.projection
}
