import PropertyLists

/// What in an archive makes Foundation's own reader end its process, or never end.
///
/// The unarchiver of swift-corelibs-foundation traps on a class that it does not expect, and reads beyond
/// a buffer where a dictionary has more keys than values. An app can store such a response itself: an array
/// in the user info is enough. Source: the unarchiver's own, tried with Swift 6.3.
enum FoundationHazard: String, Error {
  case unexpectedClass = "an object is of a class that is not expected there"
  case noClass = "the class of an object is missing"
  case unequalDictionary = "a dictionary has other numbers of keys and of values"
  case tooDeep = "objects are nested too deep, or hold themselves"
  case tooMany = "objects are shared too often"
  case emptyURL = "a URL is empty"
  case set = "the property list has a set"

  /// Returns the first hazard in an archive, or `nil`.
  ///
  /// What only makes the reader fail is no hazard.
  static func find(in archive: borrowing KeyedArchive) -> FoundationHazard? {
    do {
      if archive.hasSet { return .set }
      var walk = FoundationHazardWalk()
      try walk.visitRoot(of: archive)
      return nil
    } catch {
      return error as? FoundationHazard
    }
  }
}

/// A walk over what Foundation's reader decodes, in its order.
private struct FoundationHazardWalk {
  /// Foundation's stack lasts for some hundred levels; an app has a few.
  private static let maximumDepth = 64
  private static let maximumVisits = 10_000

  /// The classes that were found before: one that was is expected everywhere after.
  private var known: Set<KeyedArchive.Object> = []
  private var visits = 0

  mutating func visitRoot(of archive: borrowing KeyedArchive) throws {
    try expect(archive.root, toBe: ["FoundationNetworking.StoredCachedURLResponse"], archive)
    guard let response = try archive.member("response", of: archive.root) else { return }
    try expect(response, toBe: ["NSHTTPURLResponse", "NSURLResponse"], archive)
    try visitURL(archive.member("NS.url", of: response), archive, depth: 0)
    for name in ["NS.mimeType", "NS.textEncodingName", "NS.suggestedFilename"] as [PropertyListKey] {
      if let text = try archive.member(name, of: response), try archive.isDictionary(text) {
        throw FoundationHazard.unexpectedClass
      }
    }
    if let headers = try archive.member("NS.allHeaderFields", of: response) {
      try visitDictionary(headers, archive)
    }
    if let data = try archive.member("data", of: archive.root), try archive.isDictionary(data) {
      try expect(data, toBe: ["NSData", "NSMutableData"], archive)
    }
    if let date = try archive.member("date", of: archive.root) {
      try expect(date, toBe: ["NSDate"], archive)
    }
    if let userInfo = try archive.member("userInfo", of: archive.root) {
      try visitDictionary(userInfo, archive)
    }
  }

  private mutating func visitURL(
    _ url: KeyedArchive.Object?, _ archive: borrowing KeyedArchive, depth: Int
  ) throws {
    guard let url else { return }
    guard depth < Self.maximumDepth else { throw FoundationHazard.tooDeep }
    try expect(url, toBe: ["NSURL"], archive)
    if let text = try archive.member("NS.relative", of: url) {
      if try archive.isDictionary(text) { throw FoundationHazard.unexpectedClass }
      if try archive.text(text)?.isEmpty ?? false { throw FoundationHazard.emptyURL }
    }
    try visitURL(archive.member("NS.base", of: url), archive, depth: depth + 1)
  }

  private mutating func visitDictionary(
    _ dictionary: KeyedArchive.Object, _ archive: borrowing KeyedArchive
  ) throws {
    guard try archive.isDictionary(dictionary) else { return }
    try expect(dictionary, toBe: ["NSDictionary", "NSMutableDictionary"], archive)
    try visitEntries(of: dictionary, archive, depth: 0)
  }

  private mutating func visitEntries(
    of dictionary: KeyedArchive.Object, _ archive: borrowing KeyedArchive, depth: Int
  ) throws {
    guard depth < Self.maximumDepth else { throw FoundationHazard.tooDeep }
    guard try archive.isEvenDictionary(dictionary) else {
      throw FoundationHazard.unequalDictionary
    }
    var objects: [KeyedArchive.Object] = []
    do throws(PropertyListError) {
      var hasNull = false
      try archive.forEachEntry(of: dictionary) { (key, value) throws(PropertyListError) in
        guard let key, let value else { return hasNull = true }
        objects += [key, value]
      }
      if hasNull { throw PropertyListError(.malformed, at: 0) }
    } catch {
      // What is null or cannot be decoded is left out, and the values are fewer than the keys.
      throw FoundationHazard.unequalDictionary
    }
    for object in objects {
      visits += 1
      guard visits <= Self.maximumVisits else { throw FoundationHazard.tooMany }
      guard try archive.isDictionary(object) else { continue }
      try expect(object, toBe: ["NSDictionary", "NSMutableDictionary"], archive)
      guard try archive.isInstance(object, of: ["NSDictionary", "NSMutableDictionary"]) else {
        continue
      }
      try visitEntries(of: object, archive, depth: depth + 1)
    }
  }

  /// Makes sure that an instance is of one of the classes, or of one that was found before.
  private mutating func expect(
    _ object: KeyedArchive.Object, toBe classes: [PropertyListKey], _ archive: borrowing KeyedArchive
  ) throws {
    let found: KeyedArchive.Object?
    do throws(PropertyListError) { found = try archive.classObject(of: object) } catch {
      throw FoundationHazard.noClass
    }
    // Without a class at all it is no instance, which only makes the reader fail.
    guard let found else { return }
    guard try archive.isDictionary(found) else { throw FoundationHazard.noClass }
    guard !known.contains(found) else { return }
    guard try archive.isInstance(object, of: classes) else {
      throw FoundationHazard.unexpectedClass
    }
    known.insert(found)
  }
}
