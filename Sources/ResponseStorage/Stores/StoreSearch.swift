/// Where to look for stores.
public struct StoreSearch: Hashable, Sendable {
  /// The default for the number of folder levels to search.
  ///
  /// The stores of apps in simulators lie up to 14 levels below the folder of a user.
  public static let standardDepth = 20

  /// The folders below which to look.
  public var folders: [String]

  /// Whether each of the folders must be there and readable.
  public var needsFolders: Bool

  /// The number of folder levels to search below each of them.
  public var maximumDepth: Int

  /// Creates a search below some folders.
  public init(below folders: [String], needsFolders: Bool, maximumDepth: Int = standardDepth) {
    self.folders = folders
    self.needsFolders = needsFolders
    self.maximumDepth = maximumDepth
  }
}

extension StoreSearch {
  /// The families of systems, each of which keeps caches in its own places.
  public enum System: Hashable, Sendable, CaseIterable {
    /// macOS.
    case apple
    /// Systems that follow the XDG Base Directory Specification.
    case freedesktop

    /// The system that this program runs on.
    public static var current: System {
      #if os(macOS)
        .apple
      #else
        .freedesktop
      #endif
    }
  }

  /// Creates a search of the folders in which apps keep their stores by default, as far as these folders
  /// exist.
  ///
  /// - Parameter variable: Returns the value of an environment variable.
  public init(
    placesOn system: System = .current, maximumDepth: Int = standardDepth,
    variable: (String) -> String?
  ) {
    let home = variable("HOME").flatMap { Self.isAbsolute($0) ? $0 : nil }
    let folders =
      switch system {
      case .apple: Self.applePlaces(home: home, temporaryFolder: variable("TMPDIR"))
      case .freedesktop: Self.freedesktopPlaces(home: home, cacheHome: variable("XDG_CACHE_HOME"))
      }
    self.init(below: folders, needsFolders: false, maximumDepth: maximumDepth)
  }

  /// Returns the folders for caches of apps, sandboxed apps, app groups, and simulators, including old ones;
  /// and the user's folder below `/var/folders`, which is the parent of that for temporary files.
  private static func applePlaces(home: String?, temporaryFolder: String?) -> [String] {
    var places = libraryPlaces(home: home)
    // `/var` is a link to `/private/var`.
    let parts = (temporaryFolder ?? "").utf8.split(separator: UInt8(ascii: "/")).map {
      String(Substring($0))
    }
    let start = parts.starts(with: ["private"]) ? 1 : 0
    if parts.dropFirst(start).starts(with: ["var", "folders"]), parts.count >= start + 4 {
      places.append(parts.prefix(start + 4).reduce("") { "\($0)/\($1)" })
    }
    return places
  }

  private static func libraryPlaces(home: String?) -> [String] {
    let inLibrary = [
      "Caches", "Containers", "Group Containers", "Developer/CoreSimulator/Devices",
      "Application Support/iPhone Simulator",
    ]
    return home.map { home in inLibrary.map { "\(home)/Library/\($0)" } } ?? []
  }

  /// Returns the cache home, and the default one of programs that run without the variable, which may both contain
  /// stores of swift-corelibs-foundation; and the places of macOS, for a home that was copied from a Mac.
  private static func freedesktopPlaces(home: String?, cacheHome: String?) -> [String] {
    // Foundation ignores a relative path here, as the XDG specification requires.
    let cacheHome = cacheHome.flatMap { isAbsolute($0) ? $0 : nil }
    return [cacheHome, home.map { "\($0)/.cache" }].compactMap(\.self) + libraryPlaces(home: home)
  }

  private static func isAbsolute(_ path: String) -> Bool {
    path.utf8.first == UInt8(ascii: "/")
  }
}
