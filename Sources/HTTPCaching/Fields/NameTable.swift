import Bytes

/// Names in lower-case ASCII, which bytes are compared with in any case.
///
/// All letters are in one array: to take them out of a string one by one costs ten times as much, and
/// threads that hold on to arrays of names wait for each other to count who does.
struct NameTable: Sendable {
  private static let room = 24

  private let letters: [UInt8]

  /// - Parameter names: Names of at most 24 letters.
  init(_ names: [String]) {
    // Room is filled with a capital, which is no letter of any name, nor of bytes made small.
    letters = names.flatMap { name in
      Array(name.utf8) + repeatElement(UInt8(ascii: "A"), count: Self.room - name.utf8.count)
    }
  }

  /// Whether the bytes are the name at a place of the table.
  func matches(_ bytes: Span<UInt8>, at place: Int) -> Bool {
    guard bytes.count < Self.room else { return false }
    let name = letters.span.extracting((place * Self.room)..<((place + 1) * Self.room))
    for index in bytes.indices where bytes[index].asciiLowercased != name[index] { return false }
    return name[bytes.count] == UInt8(ascii: "A")
  }
}
