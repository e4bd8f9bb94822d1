import Bytes
import JSON
import ResponseStorage

/// The manifest of an archive, its second to last member: what the archive contains, and that it is complete.
struct ArchiveManifest: Hashable {
  /// The number of entries.
  var entries: Int64
  /// The number of members before the manifest.
  var members: Int64
  /// The total size of all bodies, in bytes.
  var bodyBytes: ByteCount
}

extension ArchiveManifest {
  /// Reads a manifest; unknown members are ignored.
  ///
  /// - Throws: ``JSONError``, also if the manifest does not declare the archive complete.
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
    // GNU tar reports success for some truncated archives. The manifest at the end is the proof
    // that nothing is missing, so an archive without it is refused.
    guard isComplete else { throw JSONError("the archive is incomplete", at: json.offset) }
  }

  /// The JSON document, with one member per line.
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
