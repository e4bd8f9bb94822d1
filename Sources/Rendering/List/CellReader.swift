public import Administration
import Bytes
import ResponseStorage

/// Reads the values of columns, with secrets masked.
struct CellReader {
  private struct Column {
    let reader: EntryField.Reader
    /// Whether people see a word for an unknown value: wherever other entries have one.
    let saysUnknown: Bool
  }

  private let secrets: SecretPolicy
  private let reader: SecretPolicy.Reader
  private let columns: [Column]

  init(
    _ columns: [EntryField], secrets: SecretPolicy, reader: SecretPolicy.Reader,
    context: EntryContext
  ) {
    (self.secrets, self.reader) = (secrets, reader)
    self.columns = columns.map {
      Column(
        reader: $0.shown(in: context),
        saysUnknown: reader == .people && ["freshness", "ttl"].contains($0.name))
    }
  }

  /// Returns the value of a column; `nil` if it is unknown.
  func value(
    at column: Int, in response: borrowing StoredResponse
  ) -> EntryField.Value? {
    // Not the array: threads that share it would contend for its reference count.
    let columns = columns.span
    guard let value = columns[column].reader.value(response) else {
      return columns[column].saysUnknown ? .freshness(nil) : nil
    }
    switch value {
    case .fileName(let name):
      let isShort = reader == .people
      return .text(isShort ? ByteString(StoredResponse.ID.file(name).short) : name)
    case .url(let url): return .text(secrets.url(url, for: reader))
    case .urlPart(let part, let url):
      // Masked as a whole before it is taken apart: whether something is a secret depends on where in the URL it is. The host
      // and the scheme do not depend on what follows the authority.
      let shown = secrets.url(part == .path ? url : url.upToAuthority, for: reader)
      return part.text(of: shown).map { .text($0) }
    case .headers(let headers): return .headers(secrets.headers(headers))
    case .property(_, .null): return nil
    case .property(let key, let value):
      return secrets.properties([.init(key: key, value: value)]).first
        .map { .property($0.key, $0.value) }
    case .properties(let properties): return .properties(secrets.properties(properties))
    default: return value
    }
  }
}

extension ByteString {
  /// The beginning of a URL, up to the end of its authority; all of a URL without one.
  fileprivate var upToAuthority: ByteString {
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash + 1 < bytes.count,
      bytes[slash + 1] == UInt8(ascii: "/"),
      let end = bytes[(slash + 2)...].firstIndex(where: {
        $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      })
    else { return self }
    return ByteString(Array(bytes[..<end]))
  }
}

extension EntryField {
  /// The default columns for people, which fit into 80 columns of a terminal.
  public static let standard: [EntryField] = ["id", "age", "size", "status", "freshness", "url"]

  /// More columns for people, which need a wide terminal.
  public static let wide: [EntryField] = [
    "id", "stored", "first-stored", "age", "ttl", "status", "method", "size", "mime", "url",
  ]

  /// The default columns for programs.
  public static let standardJSON: [EntryField] = [
    "id", "url", "method", "status", "mime", "size", "stored", "first-stored", "body-location",
    "notes",
  ]

  /// The default columns for people of a list of recovered entries.
  public static let standardRecovered: [EntryField] = [
    "id", "stored", "status", "size", "confidence", "found", "url",
  ]

  /// The heading of the column in a table. A key in it is unchanged.
  var title: ByteString {
    named(name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: " ") : $0 & ~0x20 })
  }

  /// Whether the cells of the column are aligned to the right.
  var isNumeric: Bool {
    switch kind {
    case .id, .status, .size, .share, .age, .duration: true
    default: false
    }
  }
}
