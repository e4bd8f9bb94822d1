/// Why bytes are not a property list that can be read.
public struct PropertyListError: Error, Hashable, Sendable {
  /// What went wrong, as far as a program can act on it.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The bytes do not begin with `bplist00`.
    case notBinaryPropertyList
    /// The bytes are an XML property list, which is not read.
    case xmlPropertyList
    /// The list is none that `NSKeyedArchiver` writes.
    case notKeyedArchive
    /// The bytes end before an object does.
    case truncated
    /// A size, a reference or an offset points outside of the bytes, or a value makes no sense.
    case malformed
    /// An object is a set, or of a type that does not exist.
    case unsupportedType
    /// A container holds itself.
    case cyclic
    /// Containers are nested deeper than the limit.
    case tooDeep
    /// More objects were visited than the limit; a shared object counts each time.
    case tooManyObjects
    /// The bytes, or what they decode to, are larger than the limit.
    case tooLarge
  }

  /// What went wrong.
  public let code: Code

  /// Where in the bytes it was noticed.
  public let offset: Int

  /// Creates an error.
  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}

extension PropertyListError: CustomStringConvertible {
  /// A short clause in English, for the end of a sentence: "truncated at byte 12".
  public var description: String {
    switch code {
    case .notBinaryPropertyList: "not a binary property list"
    case .xmlPropertyList: "an XML property list, which is not supported"
    case .notKeyedArchive: "not a keyed archive"
    case .truncated: "truncated at byte \(offset)"
    case .malformed: "malformed at byte \(offset)"
    case .unsupportedType: "an object of an unsupported type at byte \(offset)"
    case .cyclic: "a container that holds itself at byte \(offset)"
    case .tooDeep: "nested too deep at byte \(offset)"
    case .tooManyObjects: "too many objects"
    case .tooLarge: "too large"
    }
  }
}
