import ResponseStorage

/// What an archive says of an entry, before its bytes: all columns, the sizes and digests of the members
/// that follow, and, for people, what the property lists hold.
struct EntryDocument {
  /// A member that holds a part.
  struct Member: Hashable {
    var name: RawResponse.Part.Name
    var isText: Bool
    var size: Int64
    var sha256: String
  }

  /// The response.
  var raw: RawResponse
  /// The members that follow, in their order.
  var members: [Member]
  /// The response, decoded.
  var decoded: StoredResponse
  /// What was redacted, in words.
  var redacted: [String] = []
  /// What is odd, in words.
  var warnings: [String] = []

  /// The document, each member on a line of its own.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object(.lines) { json in
      json.member("key") { json in json.object { $0.member("text") { $0.text(decoded.key) } } }
      json.member("members") { members(&$0) }
      json.member("partition") { $0.text(decoded.partition) }
      if !redacted.isEmpty { json.member("redacted") { $0.array(redacted) { $0.string($1) } } }
      json.member("request") { request(&$0) }
      json.member("response") { response(&$0) }
      json.member("row") { row(&$0) }
      json.member("stored") { $0.time(decoded.stored) }
      json.member("url") { $0.text(decoded.url.map { EscapedURI($0).text }) }
      json.member("warnings") { $0.array(warnings) { $0.string($1) } }
    }
    json.endLine()
    return json.bytes
  }

  /// The names of all parts, in the order of the document.
  private static let sortedNames = RawResponse.Part.Name.allCases.sorted {
    $0.rawValue < $1.rawValue
  }

  /// A part whose row is missing is absent here; one that is `NULL` is `null`.
  private func members(_ json: inout JSONWriter) {
    json.object { json in
      for name in Self.sortedNames where raw.parts.contains(where: { $0.name == name }) {
        let member = members.first { $0.name == name }
        json.member(name.rawValue) { json in
          guard let member else { return json.null() }
          json.object { json in
            if member.isText { json.member("class") { $0.string("text") } }
            json.member("name") { $0.string(member.name.memberName) }
            if member.name == .body { json.member("on_fs") { $0.boolean(raw.hasBodyFile) } }
            json.member("sha256") { $0.string(member.sha256) }
            json.member("size") { $0.integer(member.size) }
          }
        }
      }
    }
  }

  private func row(_ json: inout JSONWriter) {
    json.object { json in
      for column in raw.columns.sorted(by: { $0.name < $1.name }) {
        json.member(column.name) { $0.value(column.value, of: column.name) }
      }
    }
  }

  private func request(_ json: inout JSONWriter) {
    json.object { json in
      json.member("headers") { headers(decoded.request.headers, &$0) }
      json.member("method") { $0.text(decoded.request.method) }
    }
  }

  private func response(_ json: inout JSONWriter) {
    json.object { json in
      json.member("headers") { headers(decoded.responseHeaders, &$0) }
      json.member("length") { json in
        if let size = decoded.bodySize { json.integer(size) } else { json.null() }
      }
      json.member("mime") { $0.text(decoded.mimeType) }
      json.member("status") { json in
        if let status = decoded.status { json.integer(status) } else { json.null() }
      }
    }
  }

  /// Header fields: a string for each, or an array of those that are repeated.
  private func headers(_ headers: HeaderFields?, _ json: inout JSONWriter) {
    guard let headers else { return json.null() }
    let fields = headers.fields
    var rest = fields.indices.sorted { first, second in
      let (name, other) = (fields[first].name, fields[second].name)
      return name == other ? first < second : name < other
    }[...]
    json.object { json in
      while let first = rest.first {
        let name = fields[first].name
        let same = rest.prefix { fields[$0].name == name }
        rest = rest[same.endIndex...]
        json.member(name) { json in
          if same.count == 1 { return json.text(fields[first].value) }
          json.array(same) { $0.text(fields[$1].value) }
        }
      }
    }
  }
}
