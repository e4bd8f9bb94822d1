public import Bytes

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

  /// The app whose default stores to look for, by their paths; `nil` for all stores.
  public var application: String?

  /// Whether to count the entries and bytes of the stores, for which all their rows are read.
  public var measures = true

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
  /// stores of swift-corelibs-foundation and of WebKit; those of programs in Flatpak; and the places of macOS, for a home that was copied from a Mac.
  private static func freedesktopPlaces(home: String?, cacheHome: String?) -> [String] {
    // Foundation ignores a relative path here, as the XDG specification requires.
    let cacheHome = cacheHome.flatMap { isAbsolute($0) ? $0 : nil }
    return [cacheHome, home.map { "\($0)/.cache" }, home.map { "\($0)/.var/app" }].compactMap(
      \.self)
      + libraryPlaces(home: home)
  }

  private static func isAbsolute(_ path: String) -> Bool {
    path.utf8.first == UInt8(ascii: "/")
  }
}

/// The result of a search for stores.
public struct Discovery: Hashable, Sendable {
  /// The stores, sorted by the bytes of their paths.
  public var stores: [FoundStore] = []

  /// Files and folders that could not be read and may contain stores, sorted by the bytes of their paths.
  public var unreadable: [UnreadablePlace] = []

  /// The number of folders that were skipped because of their depth.
  public var foldersTooDeep = 0

  /// Creates the result of a search that found nothing.
  public init() {}

  /// The number of entries of all stores, as far as it is known.
  public var entries: Int64 {
    stores.reduce(0) { $0 + ($1.entries ?? 0) }
  }

  /// The size on disk of all stores, as far as it is known.
  public var footprintBytes: ByteCount {
    stores.reduce(0) { $0 + ($1.footprintBytes ?? 0) }
  }

  /// The same result with the largest stores first.
  public var largestFirst: Discovery {
    var result = self
    result.stores.sort { first, second in
      let (size, other) = (first.footprintBytes ?? 0, second.footprintBytes ?? 0)
      return size == other ? ByteString(first.path) < ByteString(second.path) : size > other
    }
    return result
  }
}

/// A file or folder that could not be read.
public struct UnreadablePlace: Hashable, Sendable {
  /// The path; bytes that are not UTF-8 are replaced in it.
  public var path: String

  /// The reason, as one clause without a final full stop.
  public var reason: String

  /// Creates a place.
  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }
}

/// A store that was found, with its properties as a whole.
public struct FoundStore: Hashable, Sendable {
  /// Whether a process has a store open.
  public enum Use: Hashable, Sendable {
    /// Unknown, as stores of the format are opened without a lock.
    case unknown
    /// No process, as far as locks tell.
    case none
    /// A process, with its id if the system reports it.
    case process(Int32?)
  }

  /// The path with which the store can be opened.
  public var path: String

  /// The format.
  public var format: StoreDescription.Format

  /// The schema version of an Apple store; `nil` if the store has none.
  public var schemaVersion: Int64?

  /// The number of entries; `nil` if the store is too damaged to count them.
  public var entries: Int64?

  /// The total length of all its files; `nil` if the store is too damaged to measure.
  public var footprintBytes: ByteCount?

  /// When the newest of its entries was stored.
  public var newestStored: Timestamp?

  /// Whether a process has it open.
  public var use: Use

  /// Notes about the store, for display.
  public var notes: [String]

  /// Creates a store.
  public init(
    path: String, format: StoreDescription.Format, schemaVersion: Int64? = nil,
    entries: Int64? = nil, footprintBytes: ByteCount? = nil, newestStored: Timestamp? = nil,
    use: Use = .unknown, notes: [String] = []
  ) {
    self.path = path
    self.format = format
    self.schemaVersion = schemaVersion
    self.entries = entries
    self.footprintBytes = footprintBytes
    self.newestStored = newestStored
    self.use = use
    self.notes = notes
  }
}
