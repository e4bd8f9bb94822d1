public import Bytes
import PropertyLists

/// A change of a stored response's user info that removes properties.
public struct UserInfoChange: Hashable, Sendable {
  /// The id of the response.
  public var id: StoredResponse.ID
  /// The user info when it was read.
  public var old: [UInt8]
  /// The new user info; `nil` if nothing is left.
  public var new: [UInt8]?

  /// The error that the user info of a response cannot be decoded, so that its contents are unknown.
  public struct Unreadable: Error, Hashable, Sendable {}

  /// Creates a change.
  public init(of id: StoredResponse.ID, from old: [UInt8], to new: [UInt8]?) {
    (self.id, self.old, self.new) = (id, old, new)
  }

  /// Creates a change that removes some properties from the user info of a response.
  ///
  /// - Returns: `nil` if the user info has none of them.
  public init?(removing keys: Set<ByteString>, from raw: RawResponse) throws(Unreadable) {
    guard let part = raw.part(.userInfo), let content = part.content else { return nil }
    // What cannot be decoded is an error and not an empty dictionary, or writing it back would
    // remove what the app has attached.
    guard !part.isText, let bytes = content.bytes,
      let list = try? BinaryPropertyList(bytes.span),
      case .dictionary(let entries)? = try? list.value(of: list.root)
    else { throw Unreadable() }
    let rest = entries.filter { !keys.contains(ByteString($0.key)) }
    guard rest.count < entries.count else { return nil }
    id = .row(raw.id)
    old = bytes
    new = rest.isEmpty ? nil : PropertyListWriter().bytes(of: .dictionary(rest))
  }
}
