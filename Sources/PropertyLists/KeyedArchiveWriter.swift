/// Writes keyed archives as `NSKeyedArchiver` does. The same calls always produce the same bytes.
public struct KeyedArchiveWriter {
  // The first object of an archive is always `$null`.
  private var objects: [PropertyListValue] = [.text("$null")]
  private var strings: [[UInt8]: PropertyListValue] = [:]
  private var classes: [[String]: PropertyListValue] = [:]

  /// The reference to `$null`, which means no object.
  public static var null: PropertyListValue {
    // Computed, because a leak checker cannot see the box of a stored indirect value.
    .uid(0)
  }

  /// Creates a writer for an archive without objects.
  public init() {}

  /// Adds a property list value, such as a string, a number or data. Equal strings are added only once.
  ///
  /// - Returns: The reference to the object.
  public mutating func add(_ value: PropertyListValue) -> PropertyListValue {
    guard case .string(let text) = value else { return append(value) }
    if let known = strings[text] { return known }
    let reference = append(value)
    strings[text] = reference
    return reference
  }

  /// Adds an instance.
  ///
  /// - Parameters:
  ///   - classes: The name of its class, followed by the names of the superclasses.
  ///   - members: The members: references to objects, or numbers.
  /// - Returns: The reference to the instance.
  public mutating func add(
    instanceOf classes: [String], _ members: KeyValuePairs<String, PropertyListValue>
  ) -> PropertyListValue {
    var entries = members.map { Self.entry($0.key, $0.value) }
    entries.append(Self.entry("$class", reference(toClass: classes)))
    return append(.dictionary(entries))
  }

  /// Adds an `NSDictionary`.
  ///
  /// - Parameter entries: References to the keys and the values.
  /// - Returns: The reference to the dictionary.
  public mutating func add(
    dictionary entries: [(key: PropertyListValue, value: PropertyListValue)]
  ) -> PropertyListValue {
    add(
      instanceOf: ["NSDictionary", "NSObject"],
      ["NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value))])
  }

  /// Adds an `NSDate`.
  ///
  /// - Parameter seconds: Seconds since 2001-01-01 00:00:00 UTC.
  public mutating func add(date seconds: Double) -> PropertyListValue {
    add(instanceOf: ["NSDate", "NSObject"], ["NS.time": .real(seconds)])
  }

  /// Adds an `NSURL` without a base URL.
  public mutating func add(url: [UInt8]) -> PropertyListValue {
    let text = add(.string(url))
    return add(
      instanceOf: ["NSURL", "NSObject"], ["NS.base": Self.null, "NS.relative": text])
  }

  /// Returns the bytes of the archive.
  ///
  /// - Parameter root: The reference to the root object.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public func bytes(root: PropertyListValue) -> [UInt8] {
    PropertyListWriter().bytes(of: propertyList(root: root))
  }

  /// Returns the bytes before and after the content of the first data object that was added. The caller writes the
  /// content itself, so that a large body need not be in memory.
  ///
  /// - Parameters:
  ///   - root: The reference to the root object.
  ///   - dataSize: The size of the data object in bytes.
  public func parts(
    root: PropertyListValue, dataSize: Int64
  ) -> (before: [UInt8], after: [UInt8]) {
    PropertyListWriter().parts(of: propertyList(root: root), dataSize: dataSize)
  }

  private func propertyList(root: PropertyListValue) -> PropertyListValue {
    .dictionary([
      // The version that Foundation writes, on Apple platforms and on Linux.
      Self.entry("$version", .integer(100_000)),
      Self.entry("$archiver", .text("NSKeyedArchiver")),
      Self.entry("$top", .dictionary([Self.entry("root", root)])),
      Self.entry("$objects", .array(objects)),
    ])
  }

  private mutating func reference(toClass names: [String]) -> PropertyListValue {
    // Instances of a class share its description, as in archives of Foundation.
    if let known = classes[names] { return known }
    let reference = append(
      .dictionary([
        Self.entry("$classname", .text(names.first ?? "")),
        Self.entry("$classes", .array(names.map { .text($0) })),
      ]))
    classes[names] = reference
    return reference
  }

  private mutating func append(_ object: PropertyListValue) -> PropertyListValue {
    objects.append(object)
    return .uid(UInt64(objects.count - 1))
  }

  private static func entry(_ key: String, _ value: PropertyListValue) -> PropertyListValue.Entry {
    .init(key: Array(key.utf8), value: value)
  }
}
