/// A set of field names with a fast lookup.
public struct FieldNameSet: Sendable {
  /// A bit for each known name.
  private var known: UInt32 = 0
  private var others: [FieldName] = []

  /// Creates a set of names.
  public init(_ names: some Sequence<FieldName>) {
    for name in names { insert(name) }
  }

  /// Inserts a name that is not in the set.
  public mutating func insert(_ name: FieldName) {
    if let number = name.known?.rawValue {
      known |= 1 << UInt32(number)
    } else {
      others.append(name)
    }
  }

  /// The member of the set that equals the bytes, ignoring case; `nil` if there is none (RFC 9110 §5.1).
  ///
  /// - Complexity: O(*n*), where *n* is the number of names in the set that this module does not know.
  public func name(matching bytes: Span<UInt8>) -> FieldName? {
    if let found = KnownFieldName(bytes) {
      return known >> UInt32(found.rawValue) & 1 == 1 ? FieldName(found) : nil
    }
    if others.isEmpty { return nil }
    // Iterating over the array would retain and release each name.
    let others = others.span
    for index in others.indices where others[index].matches(bytes) { return others[index] }
    return nil
  }
}
