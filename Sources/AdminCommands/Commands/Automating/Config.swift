import Administration
import ArgumentParser
import Rendering

extension URLCacheAdmin {
  /// `urlcache-admin config`: shows the configuration.
  struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "config",
      abstract: "Show, check and change the configuration.",
      subcommands: [List.self, Check.self, Set.self, Unset.self], defaultSubcommand: List.self)
  }
}

extension URLCacheAdmin.Config {
  /// `urlcache-admin config list`: shows each setting with its value and origin.
  struct List: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Show all settings in effect, and where each one is set.",
      usage: "urlcache-admin config list [<options>]",
      discussion: """
        Options override environment variables (URLCACHE_ADMIN_MAX_AGE for
        '--max-age'). These override the user's file, which overrides
        /etc/urlcache-admin/config.toml. In a file, settings of a cache override
        general settings. The user's file is urlcache-admin/config.toml in
        $XDG_CONFIG_HOME or, if that is not set, in ~/.config (on macOS:
        ~/Library/Application Support).
        """)

    @OptionGroup var file: ConfigurationOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @OptionGroup var formats: FormatOptions<ChangeFormat>

    var format: ChangeFormat { formats.format }
    var isQuiet: Bool { file.messages.quiet }
    var writesJSON: Bool { format == .json }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let configuration = try environment.readingConfiguration(file.config)
      // Even to show it: a table of what holds would be wrong if some of it is not understood.
      try configuration.checkAll(in: environment)
      let renderer = ConfigurationRenderer(configuration)
      var output = OutputBuffer(environment)
      switch format {
      case .table:
        renderer.appendTable(into: &output.text)
        // A file in the wrong place has no effect, and nothing else would say so.
        for (path, _) in environment.configurationPaths(file.config) {
          let isRead = configuration.files.contains { $0.path == path }
          environment.note(isRead ? "read '\(path)'" : "there is no '\(path)'")
        }
      case .json:
        let paths = environment.configurationPaths(file.config).map(\.path)
        renderer.appendJSON(paths: paths, into: &output.text)
      }
      try output.flush()
      return .done
    }
  }

  /// `urlcache-admin config check`: shows all errors in the configuration.
  struct Check: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Show all errors in the configuration, with file, line and column.",
      usage: "urlcache-admin config check [<options>]")

    @OptionGroup var file: ConfigurationOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var isQuiet: Bool { file.messages.quiet }
    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let configuration = try environment.readingConfiguration(file.config)
      let errors = configuration.allErrors
      for error in errors {
        let hint = error.hint.map { "hint: \(printable($0))\n" } ?? ""
        environment.writeMessage("error: \(error.message)\n\(hint)")
      }
      // All errors at once, so that they can be mended in one go.
      guard errors.isEmpty else { return .configuration }
      try configuration.checkAll(in: environment)
      for file in configuration.files {
        try environment.write(Array("\(printable(file.path)): no errors\n".utf8))
      }
      if configuration.files.isEmpty { environment.note("there is no configuration file") }
      return .done
    }
  }
}

/// The options for the configuration to work on.
struct ConfigurationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Use this configuration file instead of the user's.", valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var config: String?

  @OptionGroup var messages: MessageOptions
}
