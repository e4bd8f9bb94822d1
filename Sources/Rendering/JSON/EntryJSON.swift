import Administration
import Bytes
public import JSON
public import ResponseStorage

/// Writes the members of the JSON object of a response.
struct EntryJSON {
  private let columns: [EntryField]
  private let names: JSONNames
  private let cells: CellReader
  private let now: Timestamp

  init(columns: [EntryField], secrets: SecretPolicy, context: EntryContext) {
    self.columns = columns
    // Encoded once for all responses of the list.
    names = JSONNames(.hostileText, columns) { $0.key(utf8OrBase64: $1.jsonName) }
    cells = CellReader(columns, secrets: secrets, reader: .programs, context: context)
    now = context.now
  }

  /// Writes the members of the object.
  func write(_ response: borrowing StoredResponse, to json: inout JSONWriter) {
    // Iterating over the array would retain it, and threads that share it would contend for its reference count.
    let columns = columns.span
    for index in columns.indices {
      json.key(names, at: index)
      switch cells.value(at: index, in: response) {
      case nil: json.null()
      case .integer(let value), .percent(let value, _): json.value(value)
      case .byteCount(let count): json.value(count)
      case .text(let text), .url(let text), .urlPart(_, let text), .fileName(let text):
        if !json.string(utf8: text.bytes) {
          // JSON must be UTF-8 (RFC 8259 §8.1), and a cache may contain any bytes. Replacement
          // characters would make different texts equal.
          json.base64(text.bytes, inPlaceOf: names, at: index)
        }
      case .word(let word): json.word(word)
      case .freshness(let state): if let state { json.word(state.rawValue) } else { json.null() }
      case .time(let time): json.time(time)
      // In seconds, negative for the future: programs compare numbers, and a clock that was set
      // back must not be hidden.
      case .age(let time): json.value(now.wholeSeconds - time.wholeSeconds)
      case .duration(let seconds): json.value(seconds)
      case .remainingLifetime(let seconds): json.value(seconds)
      case .texts(let texts): json.value(texts.compactMap(\.string))
      case .headers(let headers): json.value(headers)
      case .notes(let notes): json.value(notes)
      case .property(_, let value): json.value(value)
      case .properties(let properties): json.properties(properties)
      }
    }
  }
}

/// `[["Name","value"],…]`.
///
/// In a field that is not UTF-8, `null` replaces the invalid part, and a third item has both parts in Base64.
extension HeaderFields: JSONValue {
  public func write(to json: inout JSONWriter) {
    // An array and not an object, since fields repeat, and their order matters within one name (RFC
    // 9110 §5.3).
    json.array { json in
      for field in fields {
        json.array { json in
          let isName = json.string(utf8: field.name.bytes)
          if !isName { json.null() }
          let isValue = json.string(utf8: field.value.bytes)
          if !isValue { json.null() }
          if isName, isValue { return }
          json.object { json in
            json.key("name_base64")
            json.base64(field.name.bytes)
            json.key("value_base64")
            json.base64(field.value.bytes)
          }
        }
      }
    }
  }
}

extension StoredResponse.Note: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("code", code.rawValue)
      json.member("message", message)
    }
  }
}
