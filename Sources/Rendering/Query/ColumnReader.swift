public import Administration
public import Bytes
import JSON
public import ResponseStorage

/// Reads the columns of a list as values of a table in SQL.
///
/// They are the values of the JSON formats; what is an array or an object there is its text here.
public struct ColumnReader: Sendable {
  private let secrets: SecretPolicy
  private let cells: CellReader
  private let now: Timestamp

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - secrets: Which secrets the values may contain.
  ///   - now: The time to which ages are measured.
  ///   - expiryRules: The expiry rules of apps, which affect freshness.
  public init(secrets: SecretPolicy, now: Timestamp, expiryRules: [UserInfoExpiry.Rule]) {
    self.secrets = secrets
    self.now = now
    cells = CellReader(
      secrets: secrets, reader: .programs, now: now, expiryRules: expiryRules)
  }

  /// Returns the value of a column.
  public func value(
    of column: Column, in response: borrowing StoredResponse
  ) -> DatabaseValue {
    switch cells.value(of: column, in: response) {
    case .unknown: .null
    case .integer(let value), .percent(let value), .duration(let value): .integer(value)
    case .byteCount(let count): .integer(count.bytes)
    case .text(let text): DatabaseValue(text: text.bytes)
    case .word(let word): .text(Array(word.utf8))
    case .freshness(let state): state.map { .text(Array($0.rawValue.utf8)) } ?? .null
    case .time(let time): Self.text { $0.append(time: time) }
    case .age(let time): .integer(now.wholeSeconds - time.wholeSeconds)
    case .remainingLifetime(let seconds): seconds.map { .integer($0) } ?? .null
    case .words(let words): Self.json { $0.value(words) }
    case .headers(let headers): Self.json { $0.value(headers) }
    case .notes(let notes): Self.json { $0.value(notes) }
    case .property(let value): Self.value(value)
    case .properties(let properties): Self.json { $0.properties(properties) }
    }
  }

  /// Returns header fields with the values of secret fields masked.
  public func masked(_ headers: HeaderFields) -> HeaderFields { secrets.headers(headers) }

  /// Returns the key and the value of each property, the values of secret keys masked.
  public func values(
    of properties: [StoredResponse.Property]
  ) -> [(key: DatabaseValue, value: DatabaseValue)] {
    secrets.properties(properties).map { property in
      (DatabaseValue(text: property.key.bytes), Self.value(property.value))
    }
  }

  /// Returns a property as a plain value if SQL has one like it, otherwise as JSON.
  private static func value(_ value: StoredResponse.PropertyValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .date(let time): text { $0.append(time: time) }
    case .data(let bytes): .bytes(bytes)
    case .text(let text): DatabaseValue(text: text.bytes)
    case .array, .dictionary, .opaque: json { $0.value(value) }
    }
  }

  private static func text(_ write: (inout TextBuffer) -> Void) -> DatabaseValue {
    var buffer = TextBuffer()
    write(&buffer)
    return .text(buffer.bytes)
  }

  private static func json(_ write: (inout JSONWriter) -> Void) -> DatabaseValue {
    var buffer = TextBuffer()
    buffer.writeJSON(write)
    return .text(buffer.bytes)
  }
}
