import Bytes
import JSON
import ResponseStorage

/// What a WACZ file says of its members.
enum WACZPackage {
  /// A member.
  struct Resource {
    /// Its name in the zip.
    var path: ByteString
    /// Its digest, after the name of the algorithm and a colon.
    var hash: ByteString?
    /// The number of its bytes.
    var size: ByteCount?
  }

  /// Hands the members on that the description of a file names, one at a time: a description that
  /// is not to be trusted can name more than there is room for.
  ///
  /// - Throws: ``JSONError``, and what `body` throws.
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
    guard isThere else { throw JSONError("no resources", at: json.offset) }
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

  /// Reads the digest of the description from the document that has it.
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
