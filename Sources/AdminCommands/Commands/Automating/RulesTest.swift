import Administration
import ArgumentParser
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin rules`: shows what the configured rules do.
  struct Rules: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rules",
      abstract: "Show what the configured rules do.", subcommands: [Test.self])
  }
}

extension URLCacheAdmin.Rules {
  /// `urlcache-admin rules test`: shows which rule decides on entries.
  struct Test: AllCachesCommand, SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "test",
      abstract: "Show which rule applies to each entry, and its effect.",
      discussion: """
        The first rule that matches an entry decides its fate:

          keep         'enforce' keeps it
          purge        'enforce' removes it
          never        'enforce' removes it, and 'check' reports it
          memory-only  'enforce' keeps it, and 'check' reports it
          expire       'enforce' removes it, because it is older than the rule allows
          limit        'enforce' removes it only if a limit is exceeded

        Entries that no rule matches are shown with '-'. Pinned entries are always
        kept, and shown as 'pinned'. This command changes nothing.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @OptionGroup(title: "Output") var formats: FormatOptions<ChangeFormat>

    var format: ChangeFormat { formats.format }
    var writesJSON: Bool { format == .json }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let now = cache.now(in: environment)
      let rules = cache.rules(at: now, in: environment)
      let pins = try cache.pins(in: environment)
      let source = try cache.open(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      var renderer = RuleRenderer(
        rules, format == .json ? .json : .text, secrets: secrets.policy)
      var output = OutputBuffer(environment)
      var absent = selection.names ?? EntryNames()
      var ofUnknownAge = 0
      renderer.begin(source.description, into: &output.text)
      try source.scan(
        selection.projection.union(rules.projection).union(pins.projection).union([.url, .key])
      ) { response in
        let decision = try selection.decision(for: response, now: now)
        if decision != .notNamed { absent.remove(response) }
        if decision == .selected {
          var isAgeUnknown = false
          let verdict = try rules.verdict(on: response, &isAgeUnknown)
          if isAgeUnknown { ofUnknownAge += 1 }
          renderer.append(
            response, verdict, isPinned: pins.contains(response), into: &output.text)
          try output.flushIfLarge()
        }
        return .next
      }
      renderer.finish(into: &output.text)
      try output.flush()
      try source.finish()
      // A table full of hyphens looks like rules that do not match. More often the cache was given
      // by path, and its rules belong to its name.
      if ofUnknownAge > 0 {
        environment.note(
          "entries of unknown age, which no rule with an age limit matches: \(ofUnknownAge)"
        )
      }
      if rules.isEmpty { environment.note("no rules are configured for this cache") }
      return absent.isEmpty ? .done : environment.report(absent: absent, secrets.policy)
    }
  }
}
