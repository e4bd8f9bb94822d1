import Bytes
import ResponseStorage

/// What tells the WARC files of this program from others: it allows to read them more strictly.
enum WARCLabel {
  /// What the software is called in the first record, before its version.
  static let software = "urlcache-admin/"

  /// What the last record begins with; the number of entries follows.
  static let end = "urlcache-admin-entries: "

  /// What the names of header fields get that no longer tell of the body, as it is stored without codings.
  static let originalPrefix = "X-Urlcache-Orig-"

  /// Whether a header field tells of a body as it was sent.
  static func isOfTransfer(_ name: ByteString) -> Bool {
    ["content-encoding", "transfer-encoding", "content-length", "connection"]
      .contains(name.asciiLowercased)
  }

  /// Header fields as a record has them, with the length of the body as it is stored.
  static func renamed(_ headers: HeaderFields, bodySize: ByteCount?) -> HeaderFields {
    var fields = headers.fields.map { field in
      guard isOfTransfer(field.name) else { return field }
      return .init(
        name: ByteString(Array(originalPrefix.utf8) + field.name.bytes), value: field.value)
    }
    if let bodySize {
      fields.append(.init(name: "Content-Length", value: ByteString("\(bodySize)")))
    }
    return HeaderFields(fields)
  }

  /// Header fields of a record, as they were before ``renamed(_:bodySize:)``.
  static func original(_ headers: HeaderFields) -> HeaderFields {
    let prefix = ByteString(originalPrefix).asciiLowercased.bytes
    return HeaderFields(
      headers.fields.compactMap { field in
        if isOfTransfer(field.name) { return nil }
        guard field.name.asciiLowercased.bytes.starts(with: prefix) else { return field }
        let name = ByteString(Array(field.name.bytes.dropFirst(prefix.count)))
        return .init(name: name, value: field.value)
      })
  }
}

extension WARCHeader {
  /// The id of a record of this program, which is made of all of its other fields, so that it tells whether
  /// one of them was changed.
  var derivedID: ByteString {
    let others = fields.filter { $0.name.asciiLowercased != "warc-record-id" }
    return ByteString("<urn:uuid:\(NameUUID.make(of: others.flatMap(\.line)))>")
  }
}
