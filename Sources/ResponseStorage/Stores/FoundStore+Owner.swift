extension FoundStore {
  /// The app whose default cache this is, by its place alone: a bundle identifier, or the name of a program; `nil` of
  /// a cache that an app made under a path of its own.
  ///
  /// The shared `URLCache` of an app, and any cache without a `diskPath`, is `…/Caches/APP/Cache.db` on Apple's systems,
  /// `…/org.swift.foundation.URLCache/APP` of swift-corelibs-foundation. A path that is given is below the folder of the
  /// app. An app in a container is called as that, unless the container has a number in place of a name.
  public var defaultOf: String? {
    var names = path.utf8.split(separator: UInt8(ascii: "/"))
    if format == .apple {
      guard let file = names.popLast(), file.elementsEqual("Cache.db".utf8) else { return nil }
    }
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
