/// Member names that are encoded once, for writing many objects whose names are not literals.
///
/// All names share one array. With an array of strings, every thread that writes would retain and release each name,
/// and the threads would contend for the reference counts.
public struct JSONNames: Sendable {
  /// The bytes between a name and its value.
  static let end: StaticString = "\":"

  /// The encoded names, each after a comma.
  let bytes: [UInt8]

  /// The range of each name in `bytes`.
  let places: [Range<Int>]

  /// Encodes names.
  ///
  /// - Parameters:
  ///   - escaping: The escaping of the writer that will write the objects.
  ///   - key: Writes one name with the given ``JSONWriter``.
  public init<Name>(
    _ escaping: JSONEscaping, _ names: some Sequence<Name>,
    _ key: (inout JSONWriter, Name) -> Void
  ) {
    var json = JSONWriter(escaping)
    var places: [Range<Int>] = []
    for name in names {
      let start = json.bytes.count
      // With `.next`, each name is written after a comma; the first name of an object skips that byte.
      json.place = .next
      key(&json, name)
      places.append(start..<json.bytes.count)
    }
    (bytes, self.places) = (json.bytes, places)
  }
}
