import ArgumentParser
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin discover`: finds caches.
  struct Discover: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "discover",
      abstract: "Find caches, where apps keep them or below folders.",
      usage: "urlcache-admin discover [<options>] [<folders> ...]",
      discussion: """
        A Cache.db is told by its tables, whatever it is called, and a folder of
        swift-corelibs-foundation by its *.storedcachedurlresponse files. Symbolic
        links are not followed. What cannot be looked into is named at the end.

        Without a folder it looks on macOS below ~/Library/Caches, Containers, Group
        Containers and the simulators, elsewhere below $XDG_CACHE_HOME and ~/.cache.

        IN USE says whether a process has the cache open, as far as its locks tell: an
        app with a Cache.db holds one all the time, also where the system does not tell
        its pid. A folder of swift-corelibs-foundation has no locks: it is not known.

        DEFAULT OF names the app whose default cache it is, as far as its place tells:
        URLCache.shared, or a cache that was made without a path.
        """)

    @Argument(help: "The folders to look below.", completion: .directory)
    var folders: [String] = []

    @OptionGroup var depth: SearchOptions
    @OptionGroup var time: TimeOptions
    @OptionGroup var messages: MessageOptions

    @OptionGroup var formats: FormatOptions<DiscoverFormat>

    var isQuiet: Bool { messages.quiet }
    var format: DiscoverFormat { formats.format }
    var writesJSON: Bool { format == .json }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let search = try depth.search(below: folders, in: environment)
      let discovery = try environment.findStores(search)
      let renderer = DiscoveryRenderer(now: time.now(in: environment))
      var output = OutputBuffer(environment)
      switch format {
      case .table: renderer.appendTable(discovery, into: &output.text)
      case .json: renderer.appendJSON(discovery, into: &output.text)
      }
      try output.flush()
      // On standard error, so that the table on standard output has nothing but rows.
      environment.reportSum(of: discovery)
      // At the end, after the caches that were found, which are what was asked for.
      environment.noteFindings(of: discovery, search)
      return .done
    }
  }
}

/// The output formats of `discover`.
enum DiscoverFormat: String, OutputFormat {
  case table, json
}

/// The options for searching caches.
struct SearchOptions: ParsableArguments {
  private static let deepest = 100

  @Option(
    help: ArgumentHelp(
      "Look into folders up to this many levels below.", valueName: "number"))
  var maxDepth = StoreSearch.standardDepth

  func validate() throws {
    guard (0...Self.deepest).contains(maxDepth) else {
      throw ValidationError("'--max-depth' must be from 0 to \(Self.deepest).")
    }
  }

  /// Returns the search below some folders, or in the usual folders of apps if there are none.
  func search(below folders: [String], in environment: CommandEnvironment) throws -> StoreSearch {
    guard folders.isEmpty else {
      return StoreSearch(below: folders, needsFolders: true, maximumDepth: maxDepth)
    }
    let search = StoreSearch(maximumDepth: maxDepth, variable: environment.variable)
    // An empty result would look as if there were no caches.
    guard !search.folders.isEmpty else {
      throw CommandFailure.usage(
        "there is no place to look, as HOME is not set",
        hint: "name a folder: 'urlcache-admin discover FOLDER'")
    }
    return search
  }
}

extension CommandEnvironment {
  /// Reports the totals.
  func reportSum(of discovery: Discovery) {
    let (stores, entries) = (Int64(discovery.stores.count), discovery.entries)
    inform(
      "\(stores) \(stores == 1 ? "cache" : "caches"), "
        + "\(entries) \(entries == 1 ? "entry" : "entries"), "
        + "\(ByteSizeText.text(discovery.footprintBytes))\n")
  }

  /// Reports notes about the caches, and the folders that could not be searched.
  func noteFindings(of discovery: Discovery, _ search: StoreSearch) {
    for store in discovery.stores {
      for text in store.notes { note("'\(store.path)': \(text)") }
    }
    for place in discovery.unreadable { note("not looked into: '\(place.path)': \(place.reason)") }
    let count = discovery.foldersTooDeep
    if count > 0 {
      note(
        "\(count) \(count == 1 ? "folder was" : "folders were") not looked into, more than"
          + " \(search.maximumDepth) levels down")
    }
  }
}
