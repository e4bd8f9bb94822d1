import ResponseStorage

extension ExportedEntry {
  /// What an archive says of the entry: all columns, the sizes and digests of the members that follow, and, for
  /// people, what the property lists hold. Each member of the object is on a line of its own.
  ///
  /// - Parameter members: The members that follow.
  func document(of members: [EntryDocument.Member]) -> [UInt8] {
    var json = JSONWriter()
    json.object(.lines) { json in
      json.member("key") { json in json.object { $0.member("text") { $0.text(response.key) } } }
      json.member("members") { describe(members, &$0) }
      json.member("partition") { $0.text(response.partition) }
      if !redacted.isEmpty { json.member("redacted") { $0.array(redacted) { $0.string($1) } } }
      json.member("request") { request(&$0) }
      json.member("response") { response(&$0) }
      json.member("row") { row(&$0) }
      json.member("stored") { $0.time(response.stored) }
      json.member("url") { $0.text(response.url.map { EscapedURI($0).text }) }
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
  private func describe(_ members: [EntryDocument.Member], _ json: inout JSONWriter) {
    // Loops over the arrays would hold on to all that each element has.
    let (parts, members) = (raw.parts.span, members.span)
    json.object { json in
      for name in Self.sortedNames
      where parts.indices.contains(where: { parts[$0].name == name }) {
        json.member(named: name.rawValue) { json in
          guard let index = members.indices.first(where: { members[$0].name == name }) else {
            return json.null()
          }
          describe(members[index], &json)
        }
      }
    }
  }

  private func describe(_ member: borrowing EntryDocument.Member, _ json: inout JSONWriter) {
    let (name, size) = (member.name, member.size)
    json.object { json in
      if member.isText { json.member("class") { $0.string("text") } }
      json.member("name") { $0.string(name.memberName) }
      if name == .body { json.member("on_fs") { $0.boolean(raw.hasBodyFile) } }
      json.member("sha256") { $0.string(member.sha256) }
      json.member("size") { $0.byteCount(size) }
    }
  }

  private func row(_ json: inout JSONWriter) {
    let columns = raw.columns.span
    json.object { json in
      for index in columns.indices.sorted(by: { columns[$0].name < columns[$1].name }) {
        json.member(named: columns[index].name) {
          $0.value(columns[index].value, of: columns[index].name)
        }
      }
    }
  }

  private func request(_ json: inout JSONWriter) {
    json.object { json in
      json.member("headers") { headers(response.request.headers, &$0) }
      json.member("method") { $0.text(response.request.method) }
    }
  }

  private func response(_ json: inout JSONWriter) {
    json.object { json in
      json.member("headers") { headers(response.responseHeaders, &$0) }
      json.member("length") { json in
        if let size = response.bodySize { json.byteCount(size) } else { json.null() }
      }
      json.member("mime") { $0.text(response.mimeType) }
      json.member("status") { json in
        if let status = response.status { json.integer(status) } else { json.null() }
      }
    }
  }

  /// Header fields: a string for each, or an array of those that are repeated.
  private func headers(_ headers: HeaderFields?, _ json: inout JSONWriter) {
    guard let headers else { return json.null() }
    let fields = headers.fields.span
    var rest = fields.indices.sorted { first, second in
      fields[first].name == fields[second].name
        ? first < second : fields[first].name < fields[second].name
    }[...]
    json.object { json in
      while let first = rest.first {
        let same = rest.prefix { fields[$0].name == fields[first].name }
        rest = rest[same.endIndex...]
        json.member(named: fields[first].name) { json in
          if same.count == 1 { return json.text(fields[first].value) }
          json.array(same) { $0.text(fields[$1].value) }
        }
      }
    }
  }
}
