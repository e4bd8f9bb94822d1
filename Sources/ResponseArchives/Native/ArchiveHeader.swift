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

extension ArchiveHeader {
  /// Reads the header of an archive; unknown members are ignored.
  ///
  /// - Parameter path: The path of the archive, for errors.
  /// - Throws: ``ResponseArchiveError``, `tooNew` if this program must not read the archive, or ``JSONError``.
  init(reading bytes: [UInt8], at path: String) throws {
    var json = JSONReader(bytes)
    var (format, major): ([UInt8], Int64?) = ([], nil)
    var needs = 0
    self.init(
      generatorVersion: "",
      source: RawLayout(userVersion: 0, versionInTable: nil, encoding: "UTF-8", tables: []))
    try json.object { json, name in
      switch name {
      case "format": format = try json.string()
      case "version": major = try Self.majorVersion(&json)
      case "requires":
        try json.array { json in
          _ = try json.string()
          needs += 1
        }
      case "redacted":
        try json.array { redacted.append(String(decoding: try $0.string(), as: UTF8.self)) }
      case "filter": bodies = try Self.bodies(&json)
      case "source": source = try RawLayout(reading: &json)
      // Newer minor versions may only add members. What a reader must not ignore has to be named in
      // `requires`, or raises the major version.
      default: try json.skip()
      }
    }
    try json.end()
    guard format == Array(NativeArchive.format.utf8), let major, major >= 0 else {
      throw ResponseArchiveError(.notAnArchive, at: path, "its header has no known format")
    }
    // This version knows no requirements, so every one of them needs a newer program.
    guard major == NativeArchive.majorVersion, needs == 0 else {
      throw ResponseArchiveError(
        .tooNew, at: path,
        "it was written by a newer urlcache-admin (format \(major)"
          + (needs == 0 ? "" : ", with required extensions")
          + "); this version reads 1.x")
    }
  }

  /// Reads which bodies the archive contains.
  private static func bodies(_ json: inout JSONReader) throws -> ArchivedBodies {
    if try json.null() { return .all }
    var bodies: [UInt8] = []
    try json.object { json, name in
      if name == Array("bodies".utf8) { bodies = try json.string() } else { try json.skip() }
    }
    return ArchivedBodies(rawValue: String(decoding: bodies, as: UTF8.self)) ?? .all
  }

  private static func majorVersion(_ json: inout JSONReader) throws -> Int64? {
    var major: Int64?
    var minor: Int64 = 0
    try json.object { json, name in
      switch name {
      case "major": major = try json.integer()
      case "minor": minor = try json.integer()
      default: try json.skip()
      }
    }
    return minor < 0 ? nil : major
  }
}

extension RawLayout {
  fileprivate init(reading json: inout JSONReader) throws {
    self.init(userVersion: 0, versionInTable: nil, encoding: "", tables: [])
    func text(_ json: inout JSONReader) throws -> String {
      String(decoding: try json.string(), as: UTF8.self)
    }
    try json.object { json, name in
      switch name {
      case "user_version": userVersion = try json.integer()
      case "schema_version_table": versionInTable = try json.null() ? nil : json.integer()
      case "encoding": encoding = try text(&json)
      case "format": format = StoreDescription.Format(rawValue: try text(&json))
      case "columns":
        try json.object { json, table in
          var columns: [String] = []
          try json.array { columns.append(try text(&$0)) }
          tables.append(.init(String(decoding: table, as: UTF8.self), columns: columns))
        }
      default: try json.skip()
      }
    }
  }
}
