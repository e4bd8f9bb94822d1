import Bytes

/// Names in lowercase ASCII that are compared with bytes, ignoring case.
///
/// All letters are in one array. Reading them from a `String` takes ten times as long, and with an array of names,
/// threads would contend for the reference counts.
struct NameTable: Sendable {
  // The longest known name, `stale-while-revalidate`, has 22 letters. A fixed room for each makes
  // the place of a name a product.
  private static let room = 24

  private let letters: [UInt8]

  /// - Parameter names: Names of at most 23 letters.
  init(_ names: [String]) {
    // The padding is a capital, which occurs neither in a name nor in lowercased bytes.
    letters = names.flatMap { name in
      Array(name.utf8) + repeatElement(UInt8(ascii: "A"), count: Self.room - name.utf8.count)
    }
  }

  /// Whether the bytes equal the name at an index of the table.
  func matches(_ bytes: Span<UInt8>, at place: Int) -> Bool {
    // One byte of padding must remain, because it marks the end of the name.
    guard bytes.count < Self.room else { return false }
    let name = letters.span.extracting((place * Self.room)..<((place + 1) * Self.room))
    for index in bytes.indices where bytes[index].asciiLowercased != name[index] { return false }
    return name[bytes.count] == UInt8(ascii: "A")
  }
}
