/// The names of members, written once: for objects of which there are many, and whose names are not literals.
///
/// All are in one array. Threads that write with an array of names each hold on to every name, and wait for one another
/// to count who does.
public struct JSONNames: Sendable {
  /// What stands between a name and its value.
  static let end: StaticString = "\":"

  /// The names, each after a comma.
  let bytes: [UInt8]

  /// Where each begins and ends.
  let places: [Range<Int>]

  /// Writes names.
  ///
  /// - Parameters:
  ///   - escaping: That of the writer that is to write the objects.
  ///   - key: Writes one of them as a ``JSONWriter`` does.
  public init<Name>(
    _ escaping: JSONEscaping, _ names: some Sequence<Name>,
    _ key: (inout JSONWriter, Name) -> Void
  ) {
    var json = JSONWriter(escaping)
    var places: [Range<Int>] = []
    for name in names {
      let start = json.bytes.count
      json.place = .next
      key(&json, name)
      places.append(start..<json.bytes.count)
    }
    (bytes, self.places) = (json.bytes, places)
  }
}
