/// A view of a keyed archive, as `NSKeyedArchiver` writes it: a property list of objects that refer to each other by
/// number.
///
/// The bytes may be hostile. A reference is checked and followed on demand, and no class is ever instantiated. `$top`
/// refers to the root object, and `$objects` contains all objects: strings and numbers directly, and each instance as a
/// dictionary of its members and its `$class`.
/// Source: `NSKeyedArchiver.swift` in swift-corelibs-foundation.
public struct KeyedArchive: ~Escapable {
  /// An object of an archive.
  public typealias Object = BinaryPropertyList.Object

  let list: BinaryPropertyList
  private let objects: Object
  private let objectCount: Int
  let leftOut: [Int: Range<Int64>]

  /// The root object.
  public let root: Object

  /// Creates a view and finds `$objects` and the object that `$top` calls `root`.
  ///
  /// - Parameters:
  ///   - list: The property list.
  ///   - leftOut: The ranges of data objects that `list` lacks: ``CondensedPropertyList/leftOut``.
  /// - Throws: ``PropertyListError``: `notKeyedArchive` for any other list.
  @_lifetime(copy list)
  public init(
    _ list: BinaryPropertyList, leftOut: [Int: Range<Int64>] = [:]
  ) throws(PropertyListError) {
    guard let archiver = try list.value(forKey: "$archiver", in: list.root),
      // Any dictionary could have `$objects`. Another archiver would give its members other
      // meanings.
      try list.isString(archiver, equalTo: "NSKeyedArchiver"),
      let objects = try list.value(forKey: "$objects", in: list.root),
      try list.kind(of: objects) == .array, let objectCount = try list.count(of: objects),
      let top = try list.value(forKey: "$top", in: list.root),
      let root = try list.value(forKey: "root", in: top), let number = try list.uid(root),
      number < UInt64(objectCount),
      let object = try list.element(Int(truncatingIfNeeded: number), of: objects)
    else { throw PropertyListError(.notKeyedArchive, at: 0) }
    self.list = list
    self.leftOut = leftOut
    self.objects = objects
    self.objectCount = objectCount
    self.root = object
  }

  /// The object that a reference stands for: `nil` for `$null`. An object that is not a reference stands for itself.
  ///
  /// The object may again be a reference, which no archiver writes. It is not followed.
  ///
  /// - Throws: ``PropertyListError`` if there is no such object.
  /// - Complexity: O(1).
  public func resolved(_ object: Object) throws(PropertyListError) -> Object? {
    guard let number = try list.uid(object) else { return object }
    // Compare before narrowing: a hostile number can exceed `Int`.
    guard number < UInt64(objectCount),
      let found = try list.element(Int(truncatingIfNeeded: number), of: objects)
    else { throw PropertyListError(.malformed, at: try list.head(of: object).offset) }
    // Recognized by its text and not by the number 0, which an archive of another writer may use
    // for another object.
    return try list.isString(found, equalTo: "$null") ? nil : found
  }

  /// The object that a member of an instance refers to; `nil` if there is no such member, or it refers to `$null`.
  ///
  /// - Parameter name: The name of the member.
  /// - Complexity: O(*n*), where *n* is the number of members.
  public func member(_ name: PropertyListKey, of instance: Object) throws(PropertyListError)
    -> Object?
  {
    guard let value = try list.value(forKey: name, in: instance) else { return nil }
    return try resolved(value)
  }

  /// The object that the first of two members refers to, or else the second.
  func member(
    _ name: PropertyListKey, or other: PropertyListKey, of instance: Object
  ) throws(PropertyListError) -> Object? {
    if let found = try member(name, of: instance) { return found }
    return try member(other, of: instance)
  }

  /// The dictionary that describes the class of an instance; `nil` if the object is not an instance.
  ///
  /// Instances of a class share it, so comparing these objects also compares classes.
  public func classObject(of object: Object) throws(PropertyListError) -> Object? {
    guard try list.kind(of: object) == .dictionary else { return nil }
    return try member("$class", of: object)
  }

  /// The name of the class of an instance, in UTF-8; `nil` if the object is not an instance.
  public func className(of object: Object) throws(PropertyListError) -> [UInt8]? {
    guard let description = try classObject(of: object),
      let name = try list.value(forKey: "$classname", in: description)
    else { return nil }
    return try list.utf8(name)
  }

  /// Whether an object is an instance of one of the named classes.
  public func isInstance(
    _ object: Object, of classes: [PropertyListKey]
  ) throws(PropertyListError) -> Bool {
    guard let description = try classObject(of: object),
      let name = try list.value(forKey: "$classname", in: description)
    else { return false }
    for candidate in classes where try list.isString(name, equalTo: candidate) { return true }
    return false
  }

  /// The text of a string in UTF-8; `nil` if the object is not a string.
  public func text(_ object: Object) throws(PropertyListError) -> [UInt8]? {
    try list.utf8(object)
  }

  /// The value of an integer; `nil` if the object is not an integer.
  public func integer(_ object: Object) throws(PropertyListError) -> Int64? {
    try list.integer(object)
  }

  /// The value of a number, which may be archived as an integer; `nil` if the object is not a number.
  public func number(_ object: Object) throws(PropertyListError) -> Double? {
    if let real = try list.real(object) { return real }
    return try list.integer(object).map { Double($0) }
  }

  /// The array of references in a member, with the number of its elements; `nil` if the member is not an array.
  ///
  /// - Throws: ``PropertyListError``, also if there are more elements than `maximumVisits`.
  func references(
    _ name: PropertyListKey, of instance: Object
  ) throws(PropertyListError) -> (array: Object, count: Int)? {
    guard let array = try list.value(forKey: name, in: instance),
      try list.kind(of: array) == .array, let count = try list.count(of: array)
    else { return nil }
    guard count <= list.limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: try list.head(of: array).offset)
    }
    return (array, count)
  }

  /// The number of elements of a member that is an array; 0 if it is not an array.
  ///
  /// - Complexity: O(*n*), where *n* is the number of members.
  public func elementCount(
    _ name: PropertyListKey, of instance: Object
  ) throws(PropertyListError) -> Int {
    try references(name, of: instance)?.count ?? 0
  }

  /// The objects that an array of references refers to, up to the first element that is not a reference. References to
  /// `$null` are left out.
  ///
  /// - Parameter name: The name of the member that is the array.
  /// - Throws: ``PropertyListError`` for a reference to an object that does not exist.
  public func objects(
    _ name: PropertyListKey, of instance: Object
  ) throws(PropertyListError) -> [Object] {
    guard let references = try references(name, of: instance) else { return [] }
    var result: [Object] = []
    for position in 0..<references.count {
      guard let element = try list.element(position, of: references.array),
        try list.kind(of: element) == .uid
      else { break }
      if let object = try resolved(element) { result.append(object) }
    }
    return result
  }
}

extension KeyedArchive {
  /// Whether an object is a dictionary of the property list. Instances and classes are.
  public func isDictionary(_ object: Object) throws(PropertyListError) -> Bool {
    try list.kind(of: object) == .dictionary
  }

  /// Whether an object is an instance: a dictionary whose `$class` is a reference.
  public func isInstance(_ object: Object) throws(PropertyListError) -> Bool {
    guard try isDictionary(object), let type = try list.value(forKey: "$class", in: object) else {
      return false
    }
    return try list.kind(of: type) == .uid
  }

  /// Whether an object describes a class: a dictionary with a class name, whose keys are all strings.
  public func isClass(_ object: Object) throws(PropertyListError) -> Bool {
    guard try isDictionary(object), let name = try list.value(forKey: "$classname", in: object),
      try list.kind(of: name) == .string
    else { return false }
    // Foundation's reader crashes on a class with other keys.
    guard let entries = try list.entries(of: object) else { return false }
    for position in 0..<entries.count
    where try list.kind(of: list.key(position, of: entries)) != .string { return false }
    return true
  }

  /// Whether any object is a set, which no archiver writes, but which a flipped bit can make of a dictionary.
  ///
  /// - Complexity: O(*n*), where *n* is the number of objects.
  public var hasSet: Bool {
    for index in 0..<list.objectCount {
      if let head = try? list.head(of: Object(index: index)), head.type == 0xC { return true }
    }
    return false
  }
}
