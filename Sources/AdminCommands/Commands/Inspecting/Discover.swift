import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin discover`: finds caches.
  struct Discover: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "discover",
      abstract: "Find caches in the usual places or in given folders.",
      usage: "urlcache-admin discover [<options>] [<folders> ...]",
      discussion: """
        A Cache.db is recognized by its tables, not by its name, a Foundation cache by
        its *.storedcachedurlresponse files, and a WebKit cache by a folder 'Version
        N' with 'Records'. Symbolic links are not followed. Folders that cannot be
        read are listed at the end; if you named the folder to search, the exit status
        is then 3. '--quiet' prints only the paths.

        Without a folder, 'discover' searches ~/Library/Caches, Containers, Group
        Containers and the simulators; on macOS also the user's folder below
        /var/folders, and elsewhere also $XDG_CACHE_HOME, ~/.cache and ~/.var/app.
        'urlcache-admin discover ~' searches your whole home folder.

        IN USE shows whether a process has the cache open. It relies on locks: an app
        holds a lock while it has a Cache.db in WAL mode open, even if the system does
        not report the process ID. Foundation and WebKit caches have no locks, so
        there it is unknown.

        APP names the app whose default cache has this path: its URLCache.shared, or a
        cache that the app created without a path. 'urlcache-admin list APP' lists it.
        On a terminal, long paths are shortened in the middle.
        """)

    @Argument(help: "The folders to search.", completion: .directory)
    var folders: [String] = []

    @OptionGroup var depth: SearchOptions
    @OptionGroup var time: TimeOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup var messages: MessageOptions

    @OptionGroup var formats: FormatOptions<DiscoverFormat>

    var isQuiet: Bool { messages.quiet }
    var format: DiscoverFormat { formats.format }
    var writesJSON: Bool { format == .json }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let search = try depth.search(below: folders, in: environment)
      let discovery: Discovery
      do { discovery = try environment.findStores(search) } catch let error as FileError
        where error.kind == .notFound
      {
        var failure = CommandFailure(error)
        failure.hint = "search your whole home folder with 'urlcache-admin discover ~'"
        throw failure
      }
      let renderer = DiscoveryRenderer(now: time.now(in: environment))
      var output = OutputBuffer(environment)
      switch format {
      case .table where isQuiet: renderer.appendPaths(discovery, into: &output.text)
      case .table: renderer.appendTable(discovery, into: &output.text)
      case .json: renderer.appendJSON(discovery, into: &output.text)
      }
      try output.flush()
      // On standard error, so that the table on standard output has nothing but rows.
      environment.reportSum(of: discovery)
      // At the end, after the caches that were found, which are what was asked for.
      environment.noteFindings(of: discovery, search)
      // Nobody can tell whether there are none.
      let isUnknown = discovery.stores.isEmpty && !discovery.unreadable.isEmpty
      if search.needsFolders { return discovery.unreadable.isEmpty ? .done : .partly }
      return isUnknown ? .noPermission : .done
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
      "Search folders up to this many levels deep.", valueName: "number"))
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
        "cannot search the usual places, because HOME is not set",
        hint: "name a folder: 'urlcache-admin discover FOLDER'")
    }
    return search
  }
}

extension CommandEnvironment {
  /// Reports the totals.
  func reportSum(of discovery: Discovery) {
    let (stores, entries) = (discovery.stores.count, Int(clamping: discovery.entries))
    inform(
      "\(QuantityWords.counted(stores, "cache", "caches")), "
        + "\(QuantityWords.counted(entries, "entry", "entries")), "
        + "\(ByteSizeText.text(discovery.footprintBytes))\n")
  }

  /// Reports notes about the caches, and the folders that could not be searched.
  func noteFindings(of discovery: Discovery, _ search: StoreSearch) {
    for store in discovery.stores {
      for text in store.notes { note("'\(store.path)': \(text)") }
    }
    for place in discovery.unreadable { note("cannot search '\(place.path)': \(place.reason)") }
    if let refused = discovery.unreadable.lazy.compactMap({
      CommandFailure.hint(onRefusal: $0.reason)
    }).first {
      hint(refused)
    }
    // An app can keep its caches anywhere, so the usual places need not have all of them.
    if !search.needsFolders, let home = variable("HOME"), !home.isEmpty {
      hint(
        "these are the caches in the usual places; search your whole home folder with: "
          + OptionHints.commandLine(["discover", home]))
    }
    let count = discovery.foldersTooDeep
    if count > 0 {
      note(
        "\(QuantityWords.counted(count, "folder was", "folders were")) not searched: more than"
          + " \(search.maximumDepth) levels deep")
    }
  }
}
