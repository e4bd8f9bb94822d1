public import Bytes
public import ResponseStorage

/// A header field that differs between two messages.
public struct HeaderChange: Hashable, Sendable {
  /// The name, as the second message spells it, or the first one if only that has the field.
  public var name: ByteString

  /// The values in the first message, in its order; empty if it does not have the field.
  public var before: [ByteString]

  /// The values in the second message, in its order; empty if it does not have the field.
  public var after: [ByteString]

  /// Returns the fields that differ, sorted by name.
  ///
  /// Names are compared in any case (RFC 9110 section 5.1). The order of different fields does not matter, because
  /// `URLCache` stores fields in a dictionary and returns them in any order.
  public static func changes(from first: HeaderFields?, to second: HeaderFields?) -> [Self] {
    var changes: [ByteString: Self] = [:]
    for field in first?.fields ?? [] {
      changes[
        field.name.asciiLowercased, default: Self(name: field.name, before: [], after: [])
      ].before.append(field.value)
    }
    for field in second?.fields ?? [] {
      let key = field.name.asciiLowercased
      changes[key, default: Self(name: field.name, before: [], after: [])].after.append(field.value)
      changes[key]?.name = field.name
    }
    return changes.filter { $0.value.before != $0.value.after }
      // A dictionary has another order in each run.
      .sorted { $0.key < $1.key }.map(\.value)
  }
}
