import Bytes

extension StoredResponse.ID {
  /// Parses an id: a number, or the name of a file of a Foundation store, with or without its suffix; `nil`
  /// for any other text.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    // A number comes first: no file name of a Foundation store is one, as all of them contain a
    // full stop.
    if let row = Int64(text) {
      self = .row(row)
    } else if let name = FoundationFileName(of: ByteString(bytes)) {
      self = .file(name.id)
    } else if let name = FoundationFileName(bytes) {
      self = .file(name.id)
    } else {
      return nil
    }
  }
}
