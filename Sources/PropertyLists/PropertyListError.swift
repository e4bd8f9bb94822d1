/// An error in bytes that cannot be read as a property list or keyed archive.
public struct PropertyListError: Error, Hashable, Sendable {
  /// The kinds of errors that a program can tell apart.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The bytes do not begin with `bplist00`.
    case notBinaryPropertyList
    /// The bytes are an XML property list, which is not supported.
    case xmlPropertyList
    /// The list is not a keyed archive.
    case notKeyedArchive
    /// The bytes end inside an object.
    case truncated
    /// A size, reference or offset is out of bounds, or a value makes no sense.
    case malformed
    /// An object is a set, or of an unknown type.
    case unsupportedType
    /// A container contains itself.
    case cyclic
    /// Containers are nested more deeply than the limit.
    case tooDeep
    /// A walk visited more objects than the limit; a shared object counts each time.
    case tooManyObjects
    /// The bytes, or the decoded values, are larger than the limit.
    case tooLarge
  }

  /// The kind of error.
  public let code: Code

  /// The offset in bytes at which the error was noticed.
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
    case .cyclic: "a container contains itself at byte \(offset)"
    case .tooDeep: "nested too deeply at byte \(offset)"
    case .tooManyObjects: "too many objects"
    case .tooLarge: "too large"
    }
  }
}
