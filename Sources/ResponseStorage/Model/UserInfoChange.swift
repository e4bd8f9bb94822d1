public import Bytes
import PropertyLists

/// Other user info for a stored response: less than an application attached.
public struct UserInfoChange: Hashable, Sendable {
  /// The response.
  public var id: StoredResponse.ID
  /// Its user info, as it was looked at.
  public var old: [UInt8]
  /// What it is to be; `nil` if nothing is left of it.
  public var new: [UInt8]?

  /// The user info of a response cannot be decoded, so nobody knows what is in it.
  public struct Unreadable: Error, Hashable, Sendable {}

  /// A response without some properties of its user info.
  ///
  /// - Returns: `nil` if it has none of them.
  public init?(removing keys: Set<ByteString>, from raw: RawResponse) throws(Unreadable) {
    guard let part = raw.part(.userInfo), let content = part.content else { return nil }
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
