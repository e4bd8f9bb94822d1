import Administration
import Files
import Rendering

extension CommandEnvironment {
  /// Returns the paths of configuration files, and whether each must exist.
  ///
  /// - Parameter given: The file that replaces the configuration of the user.
  func configurationPaths(_ given: String?) -> [(path: String, isNeeded: Bool)] {
    var paths: [(String, Bool)] = []
    // A file that was named must exist: if a typing error were taken for an empty configuration,
    // pins and limits would silently be gone.
    if let file = given ?? nonEmpty("URLCACHE_ADMIN_CONFIG") {
      paths.append((file, true))
    } else if let folder = userConfigurationFolder {
      paths.append(("\(folder)/urlcache-admin/config.toml", false))
    }
    // Last, so that what a user sets takes precedence over what an administrator sets for all.
    return paths + [(systemConfiguration, false)]
  }

  /// Reads the time for evaluations from `URLCACHE_ADMIN_AT`.
  mutating func readEvaluationTime() throws(CommandFailure) {
    guard let text = nonEmpty("URLCACHE_ADMIN_AT") else { return }
    do { evaluationTime = try WrittenTime(text) } catch {
      throw CommandFailure(
        .configuration, kind: "configuration",
        "invalid value of the environment variable URLCACHE_ADMIN_AT: '\(printable(error.text))'"
          + " \(error.reason)",
        hint: error.hint)
    }
  }

  /// Reads the valid parts of the configuration.
  ///
  /// - Parameter given: The file that replaces the configuration of the user.
  func readingConfiguration(_ given: String?) throws -> Configuration {
    if let configurationFiles {
      var configuration = Configuration(files: configurationFiles, variable: variable)
      configuration.otherNames = otherNames
      return configuration
    }
    let files = try configurationPaths(given).compactMap { path, isNeeded in
      let bytes = try configurationText(path)
      guard bytes != nil || !isNeeded else {
        throw CommandFailure(
          .noInput, kind: "not-found", "no configuration file '\(path)'",
          hint: "list the configuration files with 'urlcache-admin config list'", path: path)
      }
      return bytes.map { ConfigurationFile($0, path: path, home: nonEmpty("HOME")) }
    }
    return Configuration(files: files, variable: variable)
  }

  /// Reads a configuration file; `nil` if it does not exist.
  private func configurationText(_ path: String) throws -> [UInt8]? {
    do { return try readConfiguration(path) } catch let error as FileError
      where error == .changeableByOthers(at: error.path)
    {
      throw CommandFailure(
        .configuration, kind: "configuration",
        "root does not read the configuration '\(path)': other users can change '\(error.path)'",
        hint: "allow only root to change it, or name another file with '--config FILE'",
        path: path)
    } catch let error as FileError where error.kind == .accessDenied {
      throw CommandFailure(
        .noPermission, kind: "no-permission",
        "cannot read the configuration: \(error); without it, pins and limits would not apply",
        hint: "set HOME to your home folder, or name a file with '--config FILE'",
        path: path)
    }
  }

  /// Reads a configuration file; `nil` if it does not exist.
  static func readFile(_ path: String) throws(FileError) -> [UInt8]? {
    do throws(FileError) {
      // A named pipe is waited for: an empty configuration protects nothing.
      let file = try OpenFile(readingInput: path)
      if CurrentProcess.isRoot { try requireOfRoot(file) }
      var (all, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
      var count = try file.read(into: &buffer)
      // Read beyond the limit, so that the reader can reject a file that is too long.
      while count > 0, all.count <= TOMLReader.mostBytes {
        all += buffer[..<count]
        count = try file.read(into: &buffer)
      }
      return all
    } catch {
      // A dangling link or an inaccessible folder is an error, not a missing file: without its configuration, pins and
      // limits would be ignored.
      if error.kind == .notFound, (try? FileStatus.of(path)) == nil { return nil }
      throw error
    }
  }

  /// Rejects, for root, a configuration that another user could change: it names files that root writes.
  private static func requireOfRoot(_ file: borrowing OpenFile) throws(FileError) {
    let status = try file.status()
    // A pipe of a shell has no folders.
    let other =
      status.kind == .regular ? try PathOwners.firstNotOnlyOfRoot(file.path)?.path : nil
    guard status.owner == 0, other == nil else {
      throw .changeableByOthers(at: other ?? file.path)
    }
  }

  /// The path of the configuration for all users.
  var systemConfiguration: String { "/etc/urlcache-admin/config.toml" }

  private var userConfigurationFolder: String? {
    // The XDG Base Directory Specification says that relative paths are invalid and must be
    // ignored.
    if let folder = nonEmpty("XDG_CONFIG_HOME"), folder.utf8.first == UInt8(ascii: "/") {
      return folder
    }
    #if os(macOS)
      return nonEmpty("HOME").map { "\($0)/Library/Application Support" }
    #else
      return nonEmpty("HOME").map { "\($0)/.config" }
    #endif
  }

  private func nonEmpty(_ name: String) -> String? {
    // A variable that is set to nothing counts as not set, as the XDG Base Directory Specification
    // requires and shells make easy.
    variable(name).flatMap { $0.isEmpty ? nil : $0 } ?? (name == "HOME" ? homeFolder() : nil)
  }
}
