import Files

/// What WebKit, or the system for it, keeps beside its cache, and this library does not read.
///
/// Source: `webkit-cache.md`.
enum WebKitNeighbours {
  /// The contents of files and folders next to the cache, by their names on Apple systems and elsewhere.
  private static let besideCache: [(names: [String], contents: String)] = [
    (["CacheStorage"], "what pages stored with the Cache API"),
    (["ServiceWorkers", "serviceworkers"], "service workers"),
    (["LocalStorage", "localstorage"], "local storage of pages"),
    (["IndexedDB", "databases"], "databases of pages"),
    (["HSTS", "hsts-storage.sqlite"], "hosts with HSTS"),
    (["AlternativeServices"], "alternative services (Alt-Svc)"),
    (["MediaCache"], "videos and sounds"),
    (["MediaKeys", "mediakeys"], "keys of protected media"),
    (["ResourceLoadStatistics", "itp"], "sites that track users"),
    (["OfflineWebApplicationCache", "applications"], "pages that can be used offline"),
  ]

  /// The same in the folder `Library` of an app on Apple systems.
  private static let inLibrary: [(names: [String], contents: String)] = [
    (["HTTPStorages"], "cookies and HSTS of apps"), (["Cookies"], "cookies"),
    (["WebKit"], "the data of web sites"),
  ]

  /// Returns a clause about each that exists.
  ///
  /// - Parameter path: The folder of the cache.
  static func notes(at path: String) -> [String] {
    guard let folder = Directory.parent(of: path) else { return [] }
    var notes = notes(on: besideCache, in: folder)
    // The cache is in `Library/Caches`, itself or some levels below.
    var place = folder
    while let parent = Directory.parent(of: place) {
      if isNamed("Caches", place), isNamed("Library", parent) {
        notes += Self.notes(on: inLibrary, in: parent)
        break
      }
      place = parent
    }
    return notes
  }

  private static func notes(
    on places: [(names: [String], contents: String)], in folder: String
  ) -> [String] {
    guard let folder = try? Directory(folder, followingLink: true) else { return [] }
    return places.compactMap { place in
      // One of them, as some file systems ignore the case of names.
      place.names.first { (try? folder.status(of: $0)) != nil }
        .map { "not read: \(place.contents), in '\(folder.path(of: $0))'" }
    }
  }

  private static func isNamed(_ name: String, _ path: String) -> Bool {
    path.utf8.split(separator: UInt8(ascii: "/")).last?.elementsEqual(name.utf8) ?? false
  }
}
