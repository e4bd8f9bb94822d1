import Bytes

extension KeyedArchive {
  /// The whole tree below an object: collections become arrays and dictionaries; strings, URLs and UUIDs become
  /// strings.
  ///
  /// An integer key becomes its digits; a key that is neither integer nor string becomes empty.
  ///
  /// - Parameter join: Returns a URL from the text of a URL, the text of its base, the text of that base's base, and so
  ///   on.
  /// - Throws: ``PropertyListError`` if there is damage, an object contains itself, or a limit is exceeded. A shared
  ///   object counts each time, so that a small archive cannot become a large tree.
  /// - Complexity: O(*n*), where *n* is the size of the tree, which the limits bound.
  public func value(
    of object: Object, joiningURLs join: @escaping ([[UInt8]]) -> [UInt8] = { $0.first ?? [] }
  ) throws(PropertyListError) -> PropertyListValue {
    var walk = Walk(join: join)
    return try value(of: object, &walk)
  }

  /// The state of a walk down a tree.
  private struct Walk {
    var join: ([[UInt8]]) -> [UInt8] = { $0.first ?? [] }
    var visits = 0
    var decoded = 0
    // The objects above the current one, and not all that were visited: a shared object is allowed,
    // and one that contains itself is not.
    var path: [Int] = []
  }

  private func value(
    of object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> PropertyListValue {
    // Counted by visits and not by objects: 25 levels of two references to one array are 33 million
    // visits in a file of 2 kB.
    try count(visits: 1, of: object, in: &walk)
    switch try list.kind(of: object) {
    case .null: return .null
    case .boolean: return .boolean(try list.boolean(object) ?? false)
    case .integer: return .integer(try list.integer(object) ?? 0)
    case .real: return .real(try list.real(object) ?? 0)
    case .date: return .date(try list.date(object) ?? 0)
    case .data: return try data(of: object, &walk)
    case .string: return .string(try string(object, &walk))
    case .uid, .set: return Self.opaque([])
    case .array:
      let length = try list.count(of: object) ?? 0
      return .array(try elements(of: object, length, below: object, &walk))
    case .dictionary: return try instance(object, &walk)
    }
  }

  private func instance(
    _ object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> PropertyListValue {
    guard let name = try className(of: object) else { return Self.opaque([]) }
    // Instances share the name of their class, so a small archive could repeat a long name.
    try count(decoded: name.count, of: object, in: &walk)
    switch name {
    case Self.null: return .null
    case Self.dictionary, Self.mutableDictionary: return try dictionary(object, &walk)
    // A set is shown as an array. Its order is that of the archive, as it has none of its own.
    case Self.array, Self.mutableArray, Self.set, Self.mutableSet:
      guard let references = try references("NS.objects", of: object) else { return .array([]) }
      return .array(try elements(of: references.array, references.count, below: object, &walk))
    case Self.data, Self.mutableData: return try data(of: object, &walk)
    case Self.string, Self.mutableString:
      guard let text = try member("NS.string", or: "NS.bytes", of: object) else {
        return Self.opaque(name)
      }
      if try list.kind(of: text) == .string { return .string(try string(text, &walk)) }
      guard case .data(let bytes) = try data(of: text, &walk) else {
        return Self.opaque(name)
      }
      return .string(bytes)
    case Self.date:
      guard let time = try member("NS.time", of: object), let seconds = try number(time) else {
        return Self.opaque(name)
      }
      return .date(seconds)
    case Self.url: return try url(object, &walk).map { .string(walk.join($0)) } ?? Self.opaque(name)
    case Self.uuid:
      guard let bytes = try member("NS.uuidbytes", of: object), try dataCount(bytes) == 16,
        case .bytes(let bytes)? = try data(bytes)
      else { return Self.opaque(name) }
      return .string(Base16.uuid(bytes, .capital))
    default: return Self.opaque(name)
    }
  }

  /// The text of an instance of `NSURL`, of its base, and so on; `nil` if the object is not a URL.
  ///
  /// A base that is not a URL is left out.
  ///
  /// - Throws: ``PropertyListError``, also if there are more bases than `maximumDepth`, or more text than
  ///   `maximumDecodedBytes`.
  public func url(_ object: Object) throws(PropertyListError) -> [[UInt8]]? {
    var walk = Walk()
    return try url(object, &walk)
  }

  private func url(_ object: Object, _ walk: inout Walk) throws(PropertyListError) -> [[UInt8]]? {
    var texts: [[UInt8]] = []
    var next: Object? = object
    while let url = next, try isInstance(url, of: ["NSURL"]),
      let text = try member("NS.relative", of: url), try list.kind(of: text) == .string
    {
      // A URL can be its own base in a hostile archive.
      guard texts.count < list.limits.maximumDepth else {
        throw PropertyListError(.tooDeep, at: try list.head(of: url).offset)
      }
      texts.append(try string(text, &walk))
      next = try member("NS.base", of: url)
    }
    return texts.isEmpty ? nil : texts
  }

  /// The entries of an archived dictionary whose keys and values are strings, such as header fields, in order. Other
  /// entries are left out.
  ///
  /// - Throws: ``PropertyListError``, also if there are more entries than `maximumVisits`, or more text than
  ///   `maximumDecodedBytes`. A shared string counts each time.
  public func textEntries(
    of dictionary: Object
  ) throws(PropertyListError) -> [(key: [UInt8], value: [UInt8])] {
    var walk = Walk()
    var entries: [(key: [UInt8], value: [UInt8])] = []
    guard let keys = try references("NS.keys", of: dictionary),
      let values = try references("NS.objects", of: dictionary)
    else { return [] }
    for position in 0..<min(keys.count, values.count) {
      guard let key = try list.element(position, of: keys.array),
        let value = try list.element(position, of: values.array)
      else { break }
      // A header field is text. Anything else in the dictionary is no field.
      guard let key = try resolved(key), let value = try resolved(value),
        try list.kind(of: key) == .string, try list.kind(of: value) == .string
      else { continue }
      entries.append((try string(key, &walk), try string(value, &walk)))
    }
    return entries
  }

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

  private func dictionary(
    _ object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> PropertyListValue {
    try enter(object, &walk)
    var entries: [PropertyListValue.Entry] = []
    guard let keys = try references("NS.keys", of: object),
      let values = try references("NS.objects", of: object)
    else {
      walk.path.removeLast()
      return .dictionary([])
    }
    // Foundation reads beyond the values if there are more keys. Here, keys without a value are
    // ignored.
    for position in 0..<min(keys.count, values.count) {
      guard let key = try list.element(position, of: keys.array),
        let value = try list.element(position, of: values.array)
      else { break }
      entries.append(.init(key: try self.key(key, &walk), value: try reference(value, &walk)))
    }
    walk.path.removeLast()
    return .dictionary(entries)
  }

  private func key(_ reference: Object, _ walk: inout Walk) throws(PropertyListError) -> [UInt8] {
    guard let object = try resolved(reference) else { return [] }
    try count(visits: 1, of: object, in: &walk)
    switch try list.kind(of: object) {
    case .string: return try string(object, &walk)
    case .integer: return Array(String(try list.integer(object) ?? 0).utf8)
    default: return []
    }
  }

  private func elements(
    of array: Object, _ length: Int, below object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> [PropertyListValue] {
    try enter(object, &walk)
    var values: [PropertyListValue] = []
    for position in 0..<length {
      guard let element = try list.element(position, of: array) else { break }
      values.append(try reference(element, &walk))
    }
    walk.path.removeLast()
    return values
  }

  private func reference(
    _ object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> PropertyListValue {
    // Null references count too: otherwise, an array of them would take time without a limit.
    guard let found = try resolved(object) else {
      try count(visits: 1, of: object, in: &walk)
      return .null
    }
    return try value(of: found, &walk)
  }

  private func string(
    _ object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> [UInt8] {
    let text = try list.utf8(object) ?? []
    try count(decoded: text.count, of: object, in: &walk)
    return text
  }

  private func data(
    of object: Object, _ walk: inout Walk
  ) throws(PropertyListError) -> PropertyListValue {
    switch try data(object) {
    case nil: return Self.opaque(try className(of: object) ?? [])
    case .left(let range): return .opaque("NSData of \(range.count) bytes")
    case .bytes(let bytes):
      try count(decoded: bytes.count, of: object, in: &walk)
      return .data(bytes)
    }
  }

  private static func opaque(_ className: [UInt8]) -> PropertyListValue {
    .opaque(className.isEmpty ? "unknown" : String(decoding: className, as: UTF8.self))
  }

  private func count(
    visits: Int, of object: Object, in walk: inout Walk
  ) throws(PropertyListError) {
    walk.visits += visits
    guard walk.visits <= list.limits.maximumVisits else {
      throw PropertyListError(.tooManyObjects, at: try list.head(of: object).offset)
    }
  }

  private func count(
    decoded: Int, of object: Object, in walk: inout Walk
  ) throws(PropertyListError) {
    walk.decoded += decoded
    guard walk.decoded <= list.limits.maximumDecodedBytes else {
      throw PropertyListError(.tooLarge, at: try list.head(of: object).offset)
    }
  }

  /// Enters a container, and checks for cycles and the maximum depth.
  private func enter(_ object: Object, _ walk: inout Walk) throws(PropertyListError) {
    guard !walk.path.contains(object.index) else {
      throw PropertyListError(.cyclic, at: try list.head(of: object).offset)
    }
    guard walk.path.count < list.limits.maximumDepth else {
      throw PropertyListError(.tooDeep, at: try list.head(of: object).offset)
    }
    walk.path.append(object.index)
  }

  private static let array = Array("NSArray".utf8)
  private static let data = Array("NSData".utf8)
  private static let date = Array("NSDate".utf8)
  private static let dictionary = Array("NSDictionary".utf8)
  private static let mutableArray = Array("NSMutableArray".utf8)
  private static let mutableData = Array("NSMutableData".utf8)
  private static let mutableDictionary = Array("NSMutableDictionary".utf8)
  private static let mutableSet = Array("NSMutableSet".utf8)
  private static let mutableString = Array("NSMutableString".utf8)
  private static let null = Array("NSNull".utf8)
  private static let set = Array("NSSet".utf8)
  private static let string = Array("NSString".utf8)
  private static let url = Array("NSURL".utf8)
  private static let uuid = Array("NSUUID".utf8)
}
