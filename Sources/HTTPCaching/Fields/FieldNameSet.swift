/// A set of names of header fields, which tells fast whether a name is among them.
public struct FieldNameSet: Sendable {
  /// A bit for each known name.
  private var known: UInt32 = 0
  private var others: [FieldName] = []

  /// Creates a set of the given names.
  public init(_ names: some Sequence<FieldName>) {
    for name in names { insert(name) }
  }

  /// Inserts a name that is not there yet.
  public mutating func insert(_ name: FieldName) {
    if let number = name.known?.rawValue {
      known |= 1 << UInt32(number)
    } else {
      others.append(name)
    }
  }

  /// The name that the bytes are, in any case; `nil` if it is not in the set (RFC 9110 §5.1).
  ///
  /// - Complexity: O(*n*), where *n* is the number of names that this module does not know.
  public func name(matching bytes: Span<UInt8>) -> FieldName? {
    if let found = KnownFieldName(bytes) {
      return known >> UInt32(found.rawValue) & 1 == 1 ? FieldName(found) : nil
    }
    if others.isEmpty { return nil }
    // A loop over the array would hold on to each name.
    let others = others.span
    for index in others.indices where others[index].matches(bytes) { return others[index] }
    return nil
  }
}
