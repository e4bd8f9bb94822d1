import Bytes
public import HTTPCaching
public import JSON
public import ResponseStorage

extension JSONEscaping {
  /// Escapes the characters that ``HostileText`` hides, so that JSON is safe on a terminal and still decodes exactly.
  static let hostileText = JSONEscaping(capitals: true) { HostileText.isHidden($0) }
}

extension TextBuffer {
  /// Appends what `body` writes.
  @inline(__always)
  mutating func writeJSON(_ body: (inout JSONWriter) -> Void) {
    JSONWriter.append(to: &bytes, .hostileText, body)
  }

  /// Appends a document that is an object, and ends its line.
  ///
  /// - Parameter schema: The name of the schema, without the prefix of this tool.
  mutating func writeJSON(schema: String, _ members: (inout JSONWriter) -> Void) {
    writeJSON { json in
      json.object {
        $0.member(schema: schema)
        members(&$0)
      }
      json.endLine()
    }
  }
}

extension JSONWriter {
  // The number changes only if a program that reads the document would break. New members do not
  // change it.
  /// Writes the member that names the schema of a document.
  mutating func member(schema name: String) { member("schema", "urlcache-admin.\(name)/1") }

  /// Writes a member that is a string. A string that is not UTF-8 becomes `null` and a member `NAME_base64`.
  mutating func member(_ name: StaticString, utf8OrBase64 text: ByteString?) {
    member(name, utf8OrBase64: text?.bytes)
  }

  /// Writes a member that is a URL or a key, masked as for programs.
  mutating func member(_ name: StaticString, url: ByteString?, _ secrets: SecretPolicy) {
    member(name, utf8OrBase64: url.map { secrets.url($0, for: .programs) })
  }

  /// Writes the member `id`: a number or a file name.
  mutating func member(id: StoredResponse.ID) {
    switch id {
    // Apple's entries have numbers and Foundation's have file names, which may be any bytes.
    // Programs pass either back as it is.
    case .row(let row): member("id", row)
    case .file(let name): member("id", utf8OrBase64: name)
    }
  }
}

/// For example `RFC 9111 §4.2.1`.
extension Section: JSONValue {
  public func write(to json: inout JSONWriter) {
    switch rfc {
    // Nearly all sections are of two RFCs, and need not be put together first.
    case 9111: json.word("RFC 9111 §", number)
    case 9110: json.word("RFC 9110 §", number)
    default: json.word(description)
    }
  }
}

extension StoreDescription: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object {
      $0.member("path", path)
      $0.member("format", format.rawValue)
      $0.member("schema_version", schemaVersion)
    }
  }
}
