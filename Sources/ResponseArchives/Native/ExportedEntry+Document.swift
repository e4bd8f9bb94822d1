import Bytes
import JSON
import ResponseStorage

extension ExportedEntry {
  /// Returns the document of the entry: all columns, the sizes and digests of the members that follow, and, for
  /// people, the contents of the property lists. It has one member per line.
  ///
  /// - Parameter members: The members that follow.
  func document(of members: [EntryDocument.Member]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2_048)
    JSONWriter.append(to: &bytes, .ascii) { json in
      json.object(.lines) { json in
        json.object("key") { $0.member("text", text: response.key) }
        describe(members, &json)
        json.member("partition", text: response.partition)
        if !redacted.isEmpty { json.member("redacted", redacted) }
        json.object("request") { json in
          headers(response.request.headers, &json)
          json.member("method", text: response.request.method)
        }
        json.object("response") { json in
          headers(response.responseHeaders, &json)
          json.member("length", response.bodySize)
          json.member("mime", text: response.mimeType)
          json.member("status", response.status)
        }
        row(&json)
        json.member("stored", response.stored)
        json.member("url", text: response.url.map { EscapedURI($0).text })
        json.member("warnings", warnings)
      }
      json.endLine()
    }
    return bytes
  }

  /// The names of all parts, in the order of the document.
  private static let sortedNames = RawResponse.Part.Name.allCases.sorted {
    $0.rawValue < $1.rawValue
  }

  /// Writes the members. A part whose row is missing is absent; a part that is `NULL` is `null`.
  private func describe(_ members: [EntryDocument.Member], _ json: inout JSONWriter) {
    // Spans avoid retaining and releasing everything in each element.
    let (parts, members) = (raw.parts.span, members.span)
    json.object("members") { json in
      for name in Self.sortedNames
      where parts.indices.contains(where: { parts[$0].name == name }) {
        json.key(named: name.rawValue)
        guard let index = members.indices.first(where: { members[$0].name == name }) else {
          json.null()
          continue
        }
        describe(members[index], &json)
      }
    }
  }

  private func describe(_ member: borrowing EntryDocument.Member, _ json: inout JSONWriter) {
    let (name, size) = (member.name, member.size)
    json.object { json in
      if member.isText { json.member("class", "text") }
      json.member("name", name.memberName)
      if name == .body { json.member("on_fs", raw.hasBodyFile) }
      json.member("sha256", member.sha256)
      json.member("size", size)
    }
  }

  private func row(_ json: inout JSONWriter) {
    let columns = raw.columns.span
    json.object("row") { json in
      // Sorted, so that equal entries give equal bytes whatever the order of the columns in their
      // schema.
      for index in columns.indices.sorted(by: { columns[$0].name < columns[$1].name }) {
        json.key(named: columns[index].name)
        json.value(columns[index].value, of: columns[index].name)
      }
    }
  }

  /// Writes header fields: a string for each, or an array for a repeated field.
  private func headers(_ headers: HeaderFields?, _ json: inout JSONWriter) {
    guard let headers else { return json.null("headers") }
    let fields = headers.fields.span
    var rest = fields.indices.sorted { first, second in
      fields[first].name == fields[second].name
        ? first < second : fields[first].name < fields[second].name
    }[...]
    json.object("headers") { json in
      while let first = rest.first {
        let same = rest.prefix { fields[$0].name == fields[first].name }
        rest = rest[same.endIndex...]
        json.key(repairing: fields[first].name.bytes)
        if same.count == 1 {
          json.text(fields[first].value)
        } else {
          json.array { json in for index in same { json.text(fields[index].value) } }
        }
      }
    }
  }
}
