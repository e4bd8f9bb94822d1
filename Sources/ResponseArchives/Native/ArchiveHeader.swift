import Bytes
import JSON
import ResponseStorage

/// What an archive says of itself, in its first member.
struct ArchiveHeader {
  /// The moment that the archive is of.
  var created: Timestamp?
  /// The version of the program that writes it.
  var generatorVersion: String
  /// The store that it is made of.
  var source: RawLayout
  /// What was redacted, in words.
  var redacted: [String] = []
  /// Whether not all entries were wanted.
  var isSelection = false
  /// Whether bodies were left out.
  var omitsBodies = false

  /// The document, each member on a line of its own.
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
    guard isSelection || omitsBodies else { return json.null("filter") }
    json.object("filter") { json in
      json.member("bodies", omitsBodies ? "none" : "all")
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
