extension KeyedArchive {
  /// The text of an archive that holds one string and nothing else, in UTF-8; `nil` if its root is none.
  ///
  /// A mutable string is one, too. What an unarchiver would make no string of, such as a URL or data, is none.
  public func rootText() throws(PropertyListError) -> [UInt8]? {
    if let text = try text(root) { return text }
    guard try isInstance(root, of: ["NSString", "NSMutableString"]),
      case .string(let text) = try value(of: root)
    else { return nil }
    return text
  }
}
