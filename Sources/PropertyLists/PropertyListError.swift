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

/// Limits on a property list, beyond which it is considered hostile.
public struct PropertyListLimits: Hashable, Sendable {
  /// The largest input, in bytes.
  public var maximumBytes: Int
  /// The deepest nesting of containers.
  public var maximumDepth: Int
  /// The maximum number of objects that one walk visits; an object counts each time it is referred to.
  public var maximumVisits: Int
  /// The maximum size in bytes of the strings and data that one walk decodes.
  public var maximumDecodedBytes: Int

  /// Creates limits.
  public init(
    // 32 MiB is also the largest value that SQLite is allowed to return. Real lists have a few
    // kilobytes and a few levels. The visits bound the time: without such a limit, Foundation's
    // parser needed more than 10 seconds for 142 bytes.
    maximumBytes: Int = 32 << 20, maximumDepth: Int = 64, maximumVisits: Int = 200_000,
    maximumDecodedBytes: Int = 64 << 20
  ) {
    self.maximumBytes = maximumBytes
    self.maximumDepth = maximumDepth
    self.maximumVisits = maximumVisits
    self.maximumDecodedBytes = maximumDecodedBytes
  }

  /// 32 MiB, 64 levels, 200,000 objects and 64 MiB decoded: far more than any cache needs.
  public static var standard: PropertyListLimits { PropertyListLimits() }
}
