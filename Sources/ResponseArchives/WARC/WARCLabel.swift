import Bytes
import ResponseStorage

/// The labels that identify WARC files of this program, which can be read more strictly than others.
enum WARCLabel {
  /// The software name in the first record, before the version.
  static let software = "urlcache-admin/"

  /// The start of the last record; the number of entries follows.
  static let end = "urlcache-admin-entries: "

  /// The prefix for header fields that no longer describe the body, as it is stored without codings.
  static let originalPrefix = "X-Urlcache-Orig-"

  /// The header fields that describe the body as it was sent.
  private static let transferNames: [ByteString] = [
    "content-encoding", "transfer-encoding", "content-length", "connection",
  ]

  /// Whether a header field describes the body as it was sent.
  static func isOfTransfer(_ name: ByteString) -> Bool {
    transferNames.contains { $0.equalsIgnoringASCIICase(name) }
  }

  /// Returns the header fields for a record, with the size of the stored body.
  ///
  /// Strict readers would decode a body that is stored decoded if `Content-Encoding` stayed.
  static func renamed(_ headers: HeaderFields, bodySize: ByteCount?) -> HeaderFields {
    var fields = headers.fields.map { field in
      guard isOfTransfer(field.name) else { return field }
      return .init(
        name: ByteString(Array(originalPrefix.utf8) + field.name.bytes), value: field.value)
    }
    // Content-Length must be that of the record, or strict readers take the body for cut off.
    if let bodySize {
      fields.append(.init(name: "Content-Length", value: ByteString("\(bodySize)")))
    }
    return HeaderFields(fields)
  }

  /// Returns the header fields of a record, as they were before ``renamed(_:bodySize:)``.
  static func original(_ headers: HeaderFields) -> HeaderFields {
    let prefix = originalPrefix.utf8
    return HeaderFields(
      headers.fields.compactMap { field in
        if isOfTransfer(field.name) { return nil }
        let isRenamed = field.name.bytes.starts(with: prefix) {
          $0.asciiLowercased == $1.asciiLowercased
        }
        guard isRenamed else { return field }
        let name = ByteString(Array(field.name.bytes.dropFirst(prefix.count)))
        return .init(name: name, value: field.value)
      })
  }
}

extension WARCHeader {
  /// The id that this program gives to a record. It is derived from all other fields, so that it reveals changes to
  /// them: WARC has no digest of the header.
  var derivedID: ByteString {
    var others: [UInt8] = []
    for field in fields where !field.name.equalsIgnoringASCIICase("warc-record-id") {
      others += field.line
    }
    return ByteString("<urn:uuid:\(NameUUID.make(of: others))>")
  }
}
