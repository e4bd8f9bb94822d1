extension KeyedArchive {
  /// The text, in UTF-8, of an archive that contains only a string; `nil` if its root is something else.
  ///
  /// A mutable string is a string too. An object that an unarchiver would not decode as a string, such as a URL or
  /// data, is not.
  public func rootText() throws(PropertyListError) -> [UInt8]? {
    if let text = try text(root) { return text }
    guard try isInstance(root, of: ["NSString", "NSMutableString"]),
      case .string(let text) = try value(of: root)
    else { return nil }
    return text
  }
}
