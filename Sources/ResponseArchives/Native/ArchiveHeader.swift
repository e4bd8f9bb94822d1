import Bytes
import JSON
import ResponseStorage

/// The header of an archive, its first member.
struct ArchiveHeader {
  /// The creation time.
  var created: Timestamp?
  /// The version of the program that wrote the archive.
  var generatorVersion: String
  /// The layout of the exported store.
  var source: RawLayout
  /// The places that were redacted, for people.
  var redacted: [String] = []
  /// Whether only some of the entries were exported.
  var isSelection = false
  /// Which bodies the archive contains.
  var bodies = ArchivedBodies.all

  /// The JSON document, with one member per line.
  var json: [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object(.lines) { json in
        json.member("created", created)
        filter(&json)
        json.member("format", NativeArchive.format)
        json.object("generator") { json in
          json.member("name", "urlcache-admin")
          json.member("version", generatorVersion)
        }
        json.member("redacted", redacted)
        json.array("requires") { _ in }
        source(&json)
        json.object("version") { json in
          json.member("major", NativeArchive.majorVersion)
          json.member("minor", NativeArchive.minorVersion)
        }
      }
      json.endLine()
    }
  }

  private func filter(_ json: inout JSONWriter) {
    guard isSelection || bodies != .all else { return json.null("filter") }
    json.object("filter") { json in
      json.member("bodies", bodies.rawValue)
      json.member("entries", isSelection ? "selected" : "all")
    }
  }

  private func source(_ json: inout JSONWriter) {
    json.object("source") { json in
      json.object("columns") { json in
        for table in source.tables { json.member(named: table.name, table.columns) }
      }
      json.member("encoding", source.encoding)
      json.member("format", source.format.rawValue)
      json.member("schema_version_table", source.versionInTable)
      json.member("user_version", source.userVersion)
    }
  }
}
