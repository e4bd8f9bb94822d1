import Administration
import ArgumentParser
import Files
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

extension URLCacheAdmin.Config {
  /// `urlcache-admin config set`: sets a setting in a file.
  struct Set: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "set",
      abstract: "Change a setting; the rest of the file stays the same.",
      usage: "urlcache-admin config set [<options>] <setting> <value>",
      discussion: """
        SETTING is the name of a setting, or caches.NAME.SETTING for one cache. To
        name a cache, set caches.NAME.path. The setting is changed in the user's file,
        or in the file given with '--config'. The file is created if necessary.
        """)

    @Argument(help: "The setting.") var setting: String
    @Argument(help: "The value, as for the option of the same name.") var value: String
    @OptionGroup var file: ConfigurationOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var isQuiet: Bool { file.messages.quiet }
    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let key = try environment.configurationKey(setting, value)
      // A relative path would depend on the folder of later commands.
      let isRelative =
        setting.utf8.reversed().starts(with: ".path".utf8.reversed())
        && value.utf8.first != UInt8(ascii: "~") && (try? FileStatus.of(value)) != nil
      let value = isRelative ? absolutePath(value) : value
      try environment.changeConfiguration(file.config) { edit throws(ConfigurationEdit.Failure) in
        try edit.setting(key, to: value)
      }
      return .done
    }
  }

  /// `urlcache-admin config unset`: removes a setting from a file.
  struct Unset: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "unset",
      abstract: "Remove a setting; the rest of the file stays the same.",
      usage: "urlcache-admin config unset [<options>] <setting>",
      discussion: """
        Removes the line that contains the setting, including a comment at its end,
        and keeps other comments. It is not an error if the file does not contain the
        setting.
        """)

    @Argument(help: "The setting, or caches.NAME.SETTING for one cache.") var setting: String
    @OptionGroup var file: ConfigurationOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    var isQuiet: Bool { file.messages.quiet }
    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let key = try environment.configurationKey(setting)
      let path = try environment.changeConfiguration(file.config) {
        edit throws(ConfigurationEdit.Failure) in
        try edit.removing(key)
      }
      if path == nil { environment.note("'\(printable(setting))' is not set in this file") }
      return .done
    }
  }
}

extension CommandEnvironment {
  /// Parses the name of a setting.
  ///
  /// - Parameter value: The new value, for the hint.
  fileprivate func configurationKey(
    _ text: String, _ value: String? = nil
  ) throws(CommandFailure) -> ConfigurationEdit.Key {
    do throws(ConfigurationEdit.Failure) { return try ConfigurationEdit.Key(text) } catch {
      let isMisspelt = error.hint?.utf8.starts(with: "did you mean".utf8) ?? false
      // 'caches.' is easily left out, and so is '.path' after a name that is not like a setting.
      for other in ["caches.\(text)", "\(text).path"]
      where value != nil && !isMisspelt && (try? ConfigurationEdit.Key(other)) != nil {
        let line = words.map { $0 == text ? other : $0 }
        throw .usage(
          printable(error.reason), hint: "did you mean: \(OptionHints.commandLine(line))")
      }
      throw .usage(printable(error.reason), hint: error.hint)
    }
  }

  /// Replaces a configuration file with its changed text; a symbolic link to it is kept.
  ///
  /// - Parameters:
  ///   - given: The file that replaces the configuration of the user.
  ///   - change: Returns the new text, or `nil` if nothing changes.
  /// - Returns: The path of the written file; `nil` if nothing changed.
  @discardableResult
  func changeConfiguration(
    _ given: String?,
    _ change: (ConfigurationEdit) throws(ConfigurationEdit.Failure) -> [UInt8]?
  ) throws -> String? {
    guard let named = configurationPaths(given).first?.path,
      named != systemConfiguration || given != nil
    else {
      throw CommandFailure.usage(
        "cannot find the home folder, so there is no user configuration",
        hint: "name the file with '--config FILE'")
    }
    // Configurations can be links into a folder under version control. Replacing the link would cut
    // that connection.
    let path = Directory.resolvedPath(named) ?? named
    // Create no folder for a change that has no effect or fails.
    if try readConfiguration(path) == nil {
      guard try changed([], of: named, by: change) != nil else { return nil }
      do throws(FileError) { try Directory.createParents(of: path) } catch {
        guard error.kind != .accessDenied else { throw error }
        throw CommandFailure(creating: error, canBeForced: false)
      }
    }
    // No other command changes it between reading and replacing it.
    let folder = try lockedFolder(of: path)
    var file = try NewFile(at: path, replacing: true)
    let old = try readConfiguration(path) ?? []
    // Read after the lock was taken, so that the change of another command in the meantime is not
    // lost.
    guard let text = try changed(old, of: named, by: change) else { return nil }
    try checkPaths(in: text, insteadOf: old, of: named, given)
    try file.write(text)
    // A configuration that others can read must stay readable for them.
    let isShared = (try? FileStatus.of(path))?.isReadableByOthers ?? false
    try file.commit(replacing: true, isReadableByAll: isShared)
    // Not before: this ends the lock.
    _ = consume folder
    return named
  }

  /// Returns the folder of a configuration file, locked after waiting for other commands that change files in it.
  private func lockedFolder(of path: String) throws -> Directory {
    // As long as commands wait for a lock of a cache.
    let end = steadyMilliseconds() + 5_000
    let folder = try Directory(NewFile.folder(of: path), followingLink: true)
    while true {
      do throws(FileError) {
        try folder.lock()
        return folder
      } catch {
        guard error.kind == .busy else { throw error }
        guard steadyMilliseconds() < end else {
          throw CommandFailure(
            .temporary, kind: "busy", "another command is changing '\(printable(path))'",
            hint: "run the command again", path: path)
        }
        pause(20)
      }
    }
  }

  /// Rejects a change that leaves the section of a cache without a path in any file.
  private func checkPaths(
    in text: [UInt8], insteadOf old: [UInt8], of named: String, _ given: String?
  ) throws {
    let others = try configurationPaths(given).dropFirst().compactMap { path, _ in
      try readConfiguration(path).map { ConfigurationFile($0, path: path, home: variable("HOME")) }
    }
    func cachesWithoutPath(_ text: [UInt8]) -> [String] {
      let file = ConfigurationFile(text, path: named, home: variable("HOME"))
      return Configuration(files: [file] + others).cachesWithoutPath.map(\.name)
    }
    // Only reject what this change causes, not what was wrong before.
    let before = cachesWithoutPath(old)
    guard let name = cachesWithoutPath(text).first(where: { !before.contains($0) }) else { return }
    throw CommandFailure(
      .usage, kind: "usage", "the cache '\(printable(name))' would have settings but no path",
      hint: "set 'caches.\(name).path' first, and remove it only after the other settings",
      path: named)
  }

  /// Returns the changed text of a file; `nil` if nothing changes.
  private func changed(
    _ text: [UInt8], of path: String,
    by change: (ConfigurationEdit) throws(ConfigurationEdit.Failure) -> [UInt8]?
  ) throws(CommandFailure) -> [UInt8]? {
    let edit: ConfigurationEdit
    do throws(ConfigurationError) {
      edit = try ConfigurationEdit(text, path: path, home: variable("HOME"))
    } catch { throw CommandFailure(error) }
    do throws(ConfigurationEdit.Failure) { return try change(edit) } catch {
      throw CommandFailure(
        error.isOfFile ? .configuration : .usage, kind: error.isOfFile ? "configuration" : "usage",
        printable(error.reason), hint: error.hint, path: path)
    }
  }
}
