import PropertyLists

/// The contents of an archive that make Foundation's unarchiver crash or never return.
///
/// The unarchiver of swift-corelibs-foundation traps on a class that it does not expect, and reads beyond
/// a buffer if a dictionary has more keys than values. An app can store such a response itself: an array
/// in the user info is enough. Source: the unarchiver, tested with Swift 6.3.
enum FoundationCrash: String, Error {
  case unexpectedClass = "an object has an unexpected class"
  case noClass = "an object has no class"
  case keyWithoutValue = "a dictionary has a key without a value"
  case tooDeep = "objects are nested too deeply, or contain themselves"
  case tooMany = "objects are shared too often"
  case emptyURL = "a URL is empty"
  case set = "the property list contains a set"

  /// Returns the first such content of an archive, or `nil`.
  ///
  /// An archive that only makes the unarchiver fail is harmless, and ends the search.
  static func find(in archive: borrowing KeyedArchive) -> FoundationCrash? {
    // The property-list parser of Foundation crashes on any set, before the unarchiver sees an
    // object. One flipped bit turns a dictionary into a set.
    if archive.hasSet { return .set }
    var walk = FoundationCrashWalk()
    do {
      try walk.visitRoot(of: archive)
      return nil
    } catch {
      return error as? FoundationCrash
    }
  }
}

/// A traversal of what Foundation's unarchiver decodes, in its order.
private struct FoundationCrashWalk {
  /// The stack of a Foundation thread is enough for some hundred levels; archives of apps have a few.
  // 500 levels overflowed a stack of 512 KiB, and fewer than 1,000 one of 1 MiB.
  private static let maximumDepth = 64
  /// Foundation copies shared objects for each reference, so a small archive can take exponential time.
  // 25 levels that share their objects took Foundation more than 60 seconds, in a file of 1.7 kB.
  private static let maximumVisits = 20_000

  /// The unarchiver fails here without harm.
  private struct Failure: Error {}

  /// The classes found so far: the unarchiver accepts each of them everywhere afterwards.
  private var known: Set<KeyedArchive.Object> = []
  private var visits = 0

  mutating func visitRoot(of archive: borrowing KeyedArchive) throws {
    let root = archive.root
    // The members are visited in the order of `init(coder:)`: what comes after a harmless failure
    // is never decoded, and so cannot crash.
    try visit(root, as: ["FoundationNetworking.StoredCachedURLResponse"], archive)
    guard let response = try archive.member("response", of: root) else { return }
    try visit(response, as: ["NSHTTPURLResponse", "NSURLResponse"], archive)
    try visitURL(archive.member("NS.url", of: response), archive, depth: 0)
    for name in ["NS.mimeType", "NS.textEncodingName", "NS.suggestedFilename"] as [PropertyListKey]
    {
      try visitText(archive.member(name, of: response), archive)
    }
    try visitDictionary(archive.member("NS.allHeaderFields", of: response), archive, depth: 0)
    guard let data = try archive.member("data", of: root) else { return }
    if try isInstance(data, archive) { try visit(data, as: ["NSData", "NSMutableData"], archive) }
    guard let date = try archive.member("date", of: root) else { return }
    try visit(date, as: ["NSDate"], archive)
    try visitDictionary(archive.member("userInfo", of: root), archive, depth: 0)
  }

  private mutating func visitURL(
    _ url: KeyedArchive.Object?, _ archive: borrowing KeyedArchive, depth: Int
  ) throws {
    guard let url, try isInstance(url, archive) else { return }
    guard depth < Self.maximumDepth else { throw FoundationCrash.tooDeep }
    try visit(url, as: ["NSURL"], archive)
    try visitURL(archive.member("NS.base", of: url), archive, depth: depth + 1)
    guard let text = try archive.member("NS.relative", of: url) else { return }
    try visitText(text, archive)
    // Bridging such a URL traps in `URLResponse.init(coder:)`.
    if try archive.text(text)?.isEmpty ?? false { throw FoundationCrash.emptyURL }
  }

  /// Visits an object that should be a string: the unarchiver traps on an instance without its member.
  private mutating func visitText(
    _ text: KeyedArchive.Object?, _ archive: borrowing KeyedArchive
  ) throws {
    guard let text, try isInstance(text, archive) else { return }
    try visit(text, as: ["NSString", "NSMutableString"], archive)
    guard try archive.member("NS.string", of: text) != nil else {
      throw FoundationCrash.unexpectedClass
    }
  }

  private mutating func visitDictionary(
    _ dictionary: KeyedArchive.Object?, _ archive: borrowing KeyedArchive, depth: Int
  ) throws {
    guard let dictionary, try isInstance(dictionary, archive) else { return }
    guard depth < Self.maximumDepth else { throw FoundationCrash.tooDeep }
    try visit(dictionary, as: ["NSDictionary", "NSMutableDictionary"], archive)
    guard try archive.isInstance(dictionary, of: ["NSDictionary", "NSMutableDictionary"]) else {
      return
    }
    do {
      let keys = try objects("NS.keys", of: dictionary, archive)
      for key in keys { try visitDictionary(key, archive, depth: depth + 1) }
      let values = try objects("NS.objects", of: dictionary, archive)
      for value in values { try visitDictionary(value, archive, depth: depth + 1) }
      // The unarchiver allocates both buffers by the number of keys, and so reads pointers behind
      // the end of the values.
      guard keys.count <= values.count else { throw FoundationCrash.keyWithoutValue }
    } catch let crash as FoundationCrash {
      throw crash
    } catch {
      // The unarchiver fails, and then uses the incomplete dictionary.
      throw FoundationCrash.keyWithoutValue
    }
  }

  /// Returns the referenced objects of an array; each element counts as a visit, even `$null`.
  private mutating func objects(
    _ name: PropertyListKey, of dictionary: KeyedArchive.Object, _ archive: borrowing KeyedArchive
  ) throws -> [KeyedArchive.Object] {
    visits += try archive.elementCount(name, of: dictionary)
    guard visits <= Self.maximumVisits else { throw FoundationCrash.tooMany }
    return try archive.objects(name, of: dictionary)
  }

  /// Whether an object is an instance and not a plain value.
  private mutating func isInstance(
    _ object: KeyedArchive.Object, _ archive: borrowing KeyedArchive
  ) throws -> Bool {
    visits += 1
    guard visits <= Self.maximumVisits else { throw FoundationCrash.tooMany }
    return try archive.isInstance(object)
  }

  /// Checks that an instance is of one of the classes, or of a class that was found before.
  private mutating func visit(
    _ object: KeyedArchive.Object, as classes: [PropertyListKey], _ archive: borrowing KeyedArchive
  ) throws {
    guard try isInstance(object, archive) else { throw Failure() }
    guard let found = try? archive.classObject(of: object),
      (try? archive.isClass(found)) == true
    else { throw FoundationCrash.noClass }
    // So a date in the user info is accepted only because the archive has a date of its own before
    // it.
    guard !known.contains(found) else { return }
    if try archive.isInstance(object, of: classes) {
      known.insert(found)
    } else if try archive.isInstance(object, of: Self.otherClasses) {
      throw FoundationCrash.unexpectedClass
    } else {
      // Foundation has no such class. The app may have it, but cannot store an instance of it.
      throw Failure()
    }
  }

  /// The Foundation classes that can be archived, and so exist wherever an archive is read.
  private static let otherClasses: [PropertyListKey] = [
    "FoundationNetworking.StoredCachedURLResponse", "NSArray", "NSAttributedString", "NSCalendar",
    "NSCharacterSet", "NSData", "NSDate", "NSDateComponents", "NSDateInterval", "NSDecimalNumber",
    "NSDictionary", "NSError", "NSHTTPURLResponse", "NSIndexPath", "NSIndexSet", "NSLocale",
    "NSMeasurement", "NSMutableArray", "NSMutableData", "NSMutableDictionary", "NSMutableSet",
    "NSMutableString", "NSNotification", "NSNull", "NSNumber", "NSObject", "NSOrderedSet",
    "NSPersonNameComponents", "NSSet", "NSString", "NSTimeZone", "NSURL", "NSURLRequest",
    "NSURLResponse", "NSUUID", "NSValue",
  ]
}
