import Bytes
import JSON
import ResponseStorage

/// The package description of a WACZ file.
enum WACZPackage {
  /// A member.
  struct Resource {
    /// The path in the zip file.
    var path: ByteString
    /// The digest, as `algorithm:hexadecimal`.
    var hash: ByteString?
    /// The size, in bytes.
    var size: ByteCount?
  }

  /// Calls `body` with each member in the package description. They are not collected in an array, because an
  /// untrusted description can list more than fits into memory.
  ///
  /// - Throws: ``JSONError``, and any error that `body` throws.
  static func forEachResource(
    reading bytes: [UInt8], _ body: (Resource) throws -> Void
  ) throws {
    var json = JSONReader(bytes)
    var isThere = false
    try json.object { json, name in
      guard name == Array("resources".utf8), !isThere else { return try json.skip() }
      isThere = true
      try json.array { try body(try resource(&$0)) }
    }
    try json.end()
    guard isThere else { throw JSONError("the package has no resources", at: json.offset) }
  }

  private static func resource(_ json: inout JSONReader) throws -> Resource {
    var resource = Resource(path: "")
    try json.object { json, name in
      switch ByteString(name) {
      case "path": resource.path = ByteString(try json.string())
      case "hash": resource.hash = ByteString(try json.string())
      case "bytes": resource.size = ByteCount(try json.integer())
      default: try json.skip()
      }
    }
    return resource
  }

  /// Reads the digest of the package description from its document.
  ///
  /// - Throws: ``JSONError``.
  static func hash(reading bytes: [UInt8]) throws -> ByteString? {
    var json = JSONReader(bytes)
    var hash: ByteString?
    try json.object { json, name in
      if name == Array("hash".utf8) {
        hash = ByteString(try json.string())
      } else {
        try json.skip()
      }
    }
    try json.end()
    return hash
  }
}
