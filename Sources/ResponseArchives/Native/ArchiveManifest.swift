import Bytes
import JSON
import ResponseStorage

/// What the last but one member of an archive says: how much there is, and that it is all.
struct ArchiveManifest: Hashable {
  /// The number of entries.
  var entries: Int64
  /// The number of members before this one.
  var members: Int64
  /// The sizes of all bodies, in bytes.
  var bodyBytes: ByteCount
}

extension ArchiveManifest {
  /// Reads a manifest; members that are not known are passed over.
  ///
  /// - Throws: ``JSONError``, also for one that does not say that the archive is complete.
  init(reading bytes: [UInt8]) throws {
    var json = JSONReader(bytes)
    self.init(entries: -1, members: -1, bodyBytes: -1)
    var isComplete = false
    try json.object { json, name in
      switch name {
      case "entries": entries = try json.integer()
      case "members": members = try json.integer()
      case "body_bytes": bodyBytes = ByteCount(try json.integer())
      case "complete": isComplete = try json.boolean()
      default: try json.skip()
      }
    }
    try json.end()
    guard isComplete else { throw JSONError("the archive is not complete", at: json.offset) }
  }

  /// The document, each member on a line of its own.
  var json: [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object(.lines) { json in
        json.member("body_bytes", bodyBytes)
        json.member("complete", true)
        json.member("entries", entries)
        json.member("members", members)
      }
      json.endLine()
    }
  }
}
