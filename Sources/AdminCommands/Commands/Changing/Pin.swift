import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin pin`: keeps the entries of URLs.
  struct Pin: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "pin",
      abstract: "Protect the entries for URLs from removal, or list the protected URLs.",
      usage: "urlcache-admin pin [<options>] [<cache>] [<urls> ...]",
      discussion: """
        'purge', 'enforce' and 'apply' remove a pinned entry only with
        '--include-pinned', and report how many they kept. Pins are stored in the
        configuration (the user's file, or the file given with '--config'), never in
        the cache. They apply however you name the cache, and even to entries that do
        not exist yet.

        A URL pins the entries that 'list URL' shows; in a Foundation cache, that
        includes the entry that the cache returns for the URL. A note names URLs that
        no entry has yet. To keep all entries that match a pattern, write a rule with
        the action 'keep' instead. Without URLs, 'pin' lists the pins.
        """)

    @OptionGroup var operands: PinOperands
    @OptionGroup var scope: PinScopeOptions
    @OptionGroup var secrets: SecretOptions

    var isQuiet: Bool { scope.file.messages.quiet }
    var writesJSON: Bool { scope.format == .json }
    // Without operands, it lists the pins.
    var outputPurpose: OutputPurpose { operands.cache.first == nil ? .product : .receipt }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      var scope = scope
      let urls = try scope.take(operands, in: environment)
      if urls.isEmpty {
        try scope.list(0, by: "pin", secrets.policy, in: environment)
        return .done
      }
      let name = try scope.name(in: environment)
      let absent = try scope.absent(urls, inCache: name, in: environment)
      if let pattern = (absent ?? urls).first(where: { EntryNames.Name.url($0).looksLikePattern }) {
        throw Self.refusal(of: pattern, inCache: name, secrets.policy)
      }
      var change: ConfigurationEdit.PinChange?
      try environment.changeConfiguration(scope.file.config) {
        edit throws(ConfigurationEdit.Failure) in
        change = try edit.pinning(urls, inCache: name)
        return change?.text
      }
      let count = change?.changed.count ?? 0
      if writesJSON {
        try scope.list(count, by: "pin", secrets.policy, in: environment)
      } else {
        try environment.write(
          Array("Pinned \(PinRenderer.urls(count)) in \(PinRenderer.cache(name))\n".utf8))
        if count < urls.count {
          environment.note("already pinned: \(PinRenderer.urls(urls.count - count))")
        }
      }
      for url in absent?.prefix(Self.mostNotes) ?? [] {
        let shown = EntryNames.text(secrets.policy.url(url, for: .people))
        environment.note(
          "no entry has the pinned URL '\(shown)' now; the pin protects one when the app stores it")
      }
      let more = (absent?.count ?? 0) - Self.mostNotes
      if more > 0 {
        environment.note(
          "more pinned URLs that no entry has: \(QuantityWords.grouped(Int64(more)))")
      }
      return .done
    }

    /// The most pins to name that no entry has: a longer list comes from a program.
    private static let mostNotes = 5

    /// Returns the failure of a pin that looks like a pattern, and would protect nothing.
    private static func refusal(
      of url: ByteString, inCache name: String?, _ secrets: SecretPolicy
    ) -> CommandFailure {
      let shown = EntryNames.text(secrets.url(url, for: .people))
      let table = name.map { "caches.\($0).rules" } ?? "rules"
      return .usage(
        "'\(shown)' is a pattern, but a pin protects only the entries with exactly its URL",
        hint:
          "write a rule of three lines: [[\(table)]], match.glob = \"\(shown)\", action = \"keep\";"
          + " 'urlcache-admin rules test \(name ?? "CACHE")' shows what it keeps")
    }
  }

  /// `urlcache-admin unpin`: allows the removal of pinned entries again.
  struct Unpin: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "unpin",
      abstract: "Remove pins.",
      usage: "urlcache-admin unpin [<options>] [<cache>] <urls> ...",
      discussion: """
        Removes URLs from the user's configuration, or from the file given with
        '--config'. Keeps other pins, comments and the order of lines.
        """)

    @OptionGroup var operands: PinOperands
    @OptionGroup var scope: PinScopeOptions
    @OptionGroup var secrets: SecretOptions

    var isQuiet: Bool { scope.file.messages.quiet }
    var writesJSON: Bool { scope.format == .json }
    var outputPurpose: OutputPurpose { .receipt }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      var scope = scope
      let urls = try scope.take(operands, in: environment)
      guard !urls.isEmpty else {
        throw CommandFailure.usage(
          "no URL to unpin", hint: "list all pins with 'urlcache-admin pin'")
      }
      let name = try scope.name(in: environment)
      var change: ConfigurationEdit.PinChange?
      try environment.changeConfiguration(scope.file.config) {
        edit throws(ConfigurationEdit.Failure) in
        change = try edit.unpinning(urls, inCache: name)
        return change?.text
      }
      let removed = change?.changed ?? []
      if writesJSON {
        try scope.list(removed.count, by: "unpin", secrets.policy, in: environment)
      } else {
        try environment.write(
          Array("Unpinned \(PinRenderer.urls(removed.count)) in \(PinRenderer.cache(name))\n".utf8))
      }
      // By the canonical form, as the command accepts any spelling that means the same URL.
      let known = Set(removed.map(CanonicalURL.of))
      let absent = urls.filter { !known.contains(CanonicalURL.of($0)) }
      for url in absent {
        let shown = EntryNames.text(secrets.policy.url(url, for: .people))
        environment.writeMessage("'\(shown)' is not pinned in \(PinRenderer.cache(name))\n")
      }
      if !absent.isEmpty {
        environment.hint("list all pins with 'urlcache-admin pin'")
      }
      return absent.isEmpty ? .done : .no
    }
  }
}

/// The operands of `pin` and `unpin`.
struct PinOperands: ParsableArguments {
  @OptionGroup var cache: CacheOperand

  @Argument(
    help: "URLs (in any equivalent spelling), or the ids of entries with these URLs. No patterns.")
  var urls: [String] = []
}

/// The options for the caches in which URLs are pinned.
struct PinScopeOptions: ParsableArguments {
  @Option(
    name: [.short, .customLong("cache")],
    help: ArgumentHelp(
      "The cache: a name from the configuration, a path, or the APP that 'discover' shows.",
      valueName: "name|path"),
    completion: .requested)
  var cache: String?

  @Flag(help: "Use the pins for all caches, even unnamed ones, instead of those for one cache.")
  var everywhere = false

  @OptionGroup var file: ConfigurationOptions
  @OptionGroup(title: "Output") var terminal: TerminalOptions

  @OptionGroup var formats: FormatOptions<ChangeFormat>

  var format: ChangeFormat { formats.format }

  func validate() throws {
    guard cache == nil || !everywhere else {
      throw ValidationError("'--everywhere' and '-c' cannot be combined.")
    }
  }

  /// Returns the name of the cache in which URLs are pinned, or its path if it has none; `nil` for all.
  func name(in environment: CommandEnvironment) throws -> String? {
    let configuration = try environment.readingConfiguration(file.config)
    try configuration.checkAll(in: environment)
    if everywhere { return nil }
    guard let cache = cache ?? configuration.value(of: .cache, forCache: nil)?.text, !cache.isEmpty
    else {
      throw CommandFailure.usage(
        "no cache given",
        hint: "name one with '-c NAME', or use '--everywhere' for all caches")
    }
    if configuration.path(ofCache: cache) != nil { return cache }
    if let name = CachePlaces(of: configuration).names(ofCacheAt: cache).first { return name }
    // A misspelt name or path would protect nothing.
    try environment.openSource(cache, 5_000, environment.now).source.finish()
    let place = CachePlaces.place(ofCacheAt: cache)
    let path = String(decoding: place, as: UTF8.self)
    guard path.utf8.elementsEqual(place) else {
      throw CommandFailure.usage(
        "a configuration is UTF-8, but the path '\(printable(path))' is not",
        hint: "use '--everywhere', or rename the folder")
    }
    return path
  }

  /// Returns the URLs that no entry of a cache has; `nil` if the cache cannot be read, or if there are several.
  func absent(
    _ urls: [ByteString], inCache name: String?, in environment: CommandEnvironment
  ) throws -> [ByteString]? {
    guard let name else { return nil }
    let configuration = try environment.readingConfiguration(file.config)
    var names = EntryNames(urls.map { .url($0) })
    do {
      let path = configuration.path(ofCache: name)?.text ?? name
      let source = try environment.openSource(path, 5_000, environment.now).source
      try source.scan(names.projection) { response in
        names.remove(response)
        return names.isEmpty ? .stop : .next
      }
      try source.finish()
    } catch is StoreError {
      // The cache may not exist yet. That is no reason not to protect what will be in it.
      return nil
    }
    return names.names.compactMap { if case .url(let url) = $0 { url } else { nil } }
  }

  /// Writes the pins of the cache on the command line, or of all caches.
  ///
  /// - Parameters:
  ///   - count: The number of changed pins.
  ///   - verb: The verb, which is part of the JSON schema name.
  func list(
    _ count: Int, by verb: String, _ secrets: SecretPolicy, in environment: CommandEnvironment
  ) throws {
    let configuration = try environment.readingConfiguration(file.config)
    try configuration.checkAll(in: environment)
    let names = try cache == nil ? nil : [name(in: environment)].compactMap { $0 }
    let renderer = PinRenderer(
      configuration, cacheNames: names, onlyForAll: everywhere, secrets: secrets)
    var output = OutputBuffer(environment)
    switch format {
    case .table:
      renderer.appendTable(into: &output.text)
      if renderer.isEmpty { environment.note("no URLs are pinned") }
    case .json: renderer.appendJSON(changed: count, by: verb, into: &output.text)
    }
    try output.flush()
  }

  /// Takes the first operand as the cache if it is one, and returns the URLs.
  mutating func take(
    _ operands: PinOperands, in environment: CommandEnvironment
  ) throws -> [ByteString] {
    var environment = environment
    environment.configuration = try environment.readingConfiguration(file.config)
    var texts = [operands.cache.first].compactMap(\.self) + operands.urls
    let isOption = cache != nil
    // Operands after `--` are never the cache.
    let mayBeCache = !isOption && !everywhere && texts.count > environment.operandsAfterTerminator
    if mayBeCache, let first = texts.first,
      try environment.isCache(
        first, unlessEntry: true,
        or: {
          try environment.cacheToChange(first, isOption: false, isConfirmed: false) != first
        })
    {
      cache = texts.removeFirst()
    }
    if let word = cache {
      cache = try environment.cacheToChange(word, isOption: isOption, isConfirmed: false)
    }
    return try read(texts, in: environment)
  }

  /// Parses URLs on the command line, and ids that stand for URLs.
  private func read(
    _ texts: [String], in environment: CommandEnvironment
  ) throws -> [ByteString] {
    var urls: [ByteString] = []
    for text in texts {
      if case .id(let id) = try? EntryNames.Name(written: text), !everywhere {
        urls.append(try url(of: id, in: environment))
        continue
      }
      do throws(WrittenValueError) { urls.append(try WrittenValue.url(text)) } catch {
        throw CommandFailure.usage(
          "'\(printable(error.text))' \(error.reason)",
          hint: "use a URL ('list' shows it): the id changes when the entry is stored again")
      }
    }
    return urls
  }

  /// Returns the URL of an entry: its id changes when the entry is stored again.
  private func url(
    of id: StoredResponse.ID, in environment: CommandEnvironment
  ) throws -> ByteString {
    let configuration = environment.configuration
    guard let name = cache ?? configuration.value(of: .cache, forCache: nil)?.text else {
      throw CommandFailure.usage(
        "no cache given", hint: "name one with '-c NAME', or use '--everywhere' for all caches")
    }
    let path = configuration.path(ofCache: name)?.text ?? name
    let source = try environment.openSource(path, 5_000, environment.now).source
    let found = try EntryNames.Name.id(id).resolved(in: source) { _ in }
    let url = try source.response(found, .url)?.url.map { ByteString(copying: $0) }
    try source.finish()
    guard let url else { throw StoreError(.noSuchResponse, at: path, because: "it has no URL") }
    return url
  }
}
