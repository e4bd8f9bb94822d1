public import Bytes
public import ResponseStorage

/// The `ETag`s of a folder of side files, for entries to be looked up in.
public struct SidecarTags: Hashable, Sendable {
  private let tags: [ByteString: ByteString]

  /// Takes the `ETag`s of a folder; of a file that cannot be read there is none.
  public init(of folder: SidecarFolder) {
    tags = folder.files.compactMapValues(\.tag)
  }

  /// The `ETag` that an app sends for a response; `nil` if there is none.
  ///
  /// The response must have been decoded for ``projection``.
  public func tag(of response: borrowing StoredResponse) -> ByteString? {
    for url in SidecarOwners.urls(of: response) {
      for name in SidecarNaming.names(of: url) {
        if let tag = tags[name.text] { return tag }
      }
    }
    return nil
  }

  /// What has to be decoded of a response to find its `ETag`.
  public static let projection = SidecarOwners.projection
}
