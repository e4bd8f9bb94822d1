import Bytes
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
    var json = JSONWriter()
    json.object(.lines) { json in
      json.member("created") { $0.time(created) }
      json.member("filter") { filter(&$0) }
      json.member("format") { $0.string(NativeArchive.format) }
      json.member("generator") { json in
        json.object { json in
          json.member("name") { $0.string("urlcache-admin") }
          json.member("version") { $0.string(generatorVersion) }
        }
      }
      json.member("redacted") { $0.array(redacted) { $0.string($1) } }
      json.member("requires") { $0.array([] as [String]) { $0.string($1) } }
      json.member("source") { source(&$0) }
      json.member("version") { json in
        json.object { json in
          json.member("major") { $0.integer(NativeArchive.majorVersion) }
          json.member("minor") { $0.integer(NativeArchive.minorVersion) }
        }
      }
    }
    json.endLine()
    return json.bytes
  }

  private func filter(_ json: inout JSONWriter) {
    guard isSelection || omitsBodies else { return json.null() }
    json.object { json in
      json.member("bodies") { $0.string(omitsBodies ? "none" : "all") }
      json.member("entries") { $0.string(isSelection ? "selected" : "all") }
    }
  }

  private func source(_ json: inout JSONWriter) {
    json.object { json in
      json.member("columns") { json in
        json.object { json in
          for table in source.tables {
            json.member(named: table.name) { $0.array(table.columns) { $0.string($1) } }
          }
        }
      }
      json.member("encoding") { $0.string(source.encoding) }
      json.member("format") { $0.string(source.format.rawValue) }
      json.member("schema_version_table") { json in
        if let version = source.versionInTable { json.integer(version) } else { json.null() }
      }
      json.member("user_version") { $0.integer(source.userVersion) }
    }
  }
}
