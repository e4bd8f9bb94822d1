extension FoundStore {
  /// The app whose default cache this is, derived from the path alone: a bundle identifier, or the name of a program.
  /// `nil` for a cache to which the app gave its own path.
  ///
  /// The shared `URLCache` of an app, and any cache without a `diskPath`, is `…/Caches/APP/Cache.db` on Apple systems
  /// and `…/org.swift.foundation.URLCache/APP` with swift-corelibs-foundation. A given path is below the folder of the
  /// app. In a container, the folder has the name of the container, unless the container has a UUID instead of a name.
  public var defaultOf: String? {
    var names = path.utf8.split(separator: UInt8(ascii: "/"))
    if format == .apple {
      guard let file = names.popLast(), file.elementsEqual("Cache.db".utf8) else { return nil }
    }
    // The path is all there is: neither kind of store records the app that writes it.
    guard let app = names.popLast(), let parent = names.popLast() else { return nil }
    guard parent.elementsEqual((format == .apple ? "Caches" : "org.swift.foundation.URLCache").utf8)
    else { return nil }
    if format == .apple,
      let place = names.lastIndex(where: { $0.elementsEqual("Containers".utf8) }),
      names[(place + 1)...].dropFirst().elementsEqual(
        ["Data", "Library"], by: { $0.elementsEqual($1.utf8) }),
      !names[place + 1].elementsEqual(app)
    {
      return nil
    }
    return String(decoding: Array(app), as: UTF8.self)
  }
}
