import JSON
import ResponseStorage

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
