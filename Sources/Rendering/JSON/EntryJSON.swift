import Administration
import Bytes
import ResponseStorage

/// The members of the JSON object of one response.
struct EntryJSON {
  /// A column with what comes before its value.
  private struct Member {
    var column: Column
    var key: ByteString
    var prefix: Range<Int>
  }

  private let members: [Member]
  /// What comes before the values, of all members in one array: threads that hold on to the same arrays wait for
  /// each other to count who does.
  private let prefixes: [UInt8]
  private let cells: CellReader
  private let now: Timestamp

  init(
    columns: [Column], secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule]
  ) {
    var prefixes = TextBuffer()
    members = columns.enumerated().map { index, column in
      let start = prefixes.bytes.count
      if index > 0 { prefixes.append(UInt8(ascii: ",")) }
      prefixes.append(jsonKey: column.jsonKey)
      prefixes.append(UInt8(ascii: ":"))
      return Member(column: column, key: column.jsonKey, prefix: start..<prefixes.bytes.count)
    }
    self.prefixes = prefixes.bytes
    cells = CellReader(
      secrets: secrets, reader: .programs, now: now, expiryRules: expiryRules)
    self.now = now
  }

  /// Appends the members, without the braces around them.
  func append(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    // A loop over the array would hold on to it, which other threads do too.
    let (members, prefixes) = (members.span, prefixes.span)
    for index in members.indices {
      buffer.append(prefixes.extracting(members[index].prefix))
      switch cells.value(of: members[index].column, in: response) {
      case .unknown: buffer.append("null")
      case .integer(let value), .percent(let value): buffer.append(integer: value)
      case .byteCount(let count): buffer.append(plain: count)
      case .text(let text):
        if !buffer.append(json: text.bytes) {
          buffer.append(base64: text, inPlaceOf: members[index].key)
        }
      case .word(let word): buffer.append(json: word)
      case .time(let time): buffer.append(json: time)
      case .age(let time): buffer.append(integer: now.wholeSeconds - time.wholeSeconds)
      case .duration(let seconds): buffer.append(integer: seconds)
      case .remainingLifetime(let seconds): buffer.append(json: seconds)
      case .words(let words): buffer.append(json: words)
      case .headers(let headers): buffer.append(json: headers)
      case .notes(let notes): buffer.append(json: notes)
      case .property(let value): buffer.append(json: value)
      case .properties(let properties): buffer.append(json: properties)
      }
    }
  }
}

extension TextBuffer {
  /// Appends words of our own as a JSON array.
  mutating func append(json words: [String]) {
    append(UInt8(ascii: "["))
    for (index, word) in words.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append(json: word)
    }
    append(UInt8(ascii: "]"))
  }

  /// Appends header fields as `[["Name","value"],…]`.
  ///
  /// A pair that is not UTF-8 has `null` for what is not, and a third item with both in Base64.
  mutating func append(json headers: HeaderFields) {
    append(UInt8(ascii: "["))
    for (index, field) in headers.fields.enumerated() {
      append(index == 0 ? "[" : ",[")
      let isName = append(json: field.name.bytes)
      append(isName ? "," : "null,")
      let isValue = append(json: field.value.bytes)
      if !isValue { append("null") }
      if !isName || !isValue {
        append(",{\"name_base64\":")
        append(base64: field.name.bytes)
        append(",\"value_base64\":")
        append(base64: field.value.bytes)
        append("}")
      }
      append(UInt8(ascii: "]"))
    }
    append(UInt8(ascii: "]"))
  }

  /// Appends notes as `[{"code":…,"message":…},…]`.
  mutating func append(json notes: [StoredResponse.Note]) {
    append(UInt8(ascii: "["))
    for (index, note) in notes.enumerated() {
      append(index == 0 ? "{\"code\":" : ",{\"code\":")
      append(json: note.code.rawValue)
      append(",\"message\":")
      append(json: note.message)
      append(UInt8(ascii: "}"))
    }
    append(UInt8(ascii: "]"))
  }
}
