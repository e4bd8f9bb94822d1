import Administration
import Files

extension CommandEnvironment {
  /// The files that a configuration is read from, and whether each must be there.
  ///
  /// - Parameter given: The file that the command line names instead of the user's.
  func configurationPaths(_ given: String?) -> [(path: String, isNeeded: Bool)] {
    var paths: [(String, Bool)] = []
    if let file = given ?? nonEmpty("URLCACHE_ADMIN_CONFIG") {
      paths.append((file, true))
    } else if let folder = userConfigurationFolder {
      paths.append(("\(folder)/urlcache-admin/config.toml", false))
    }
    return paths + [(systemConfiguration, false)]
  }

  /// Reads the configuration, as far as it is not wrong.
  ///
  /// - Parameter given: The file that the command line names instead of the user's.
  func readingConfiguration(_ given: String?) throws -> Configuration {
    let files = try configurationPaths(given).compactMap { path, isNeeded in
      let bytes = try configurationText(path)
      guard bytes != nil || !isNeeded else {
        throw CommandFailure(
          .noInput, kind: "not-found", "there is no configuration '\(path)'",
          hint: "see which files are read with 'urlcache-admin config list'", path: path)
      }
      return bytes.map { ConfigurationFile($0, path: path, home: nonEmpty("HOME")) }
    }
    return Configuration(files: files, variable: variable)
  }

  /// Reads a configuration file; `nil` if there is none.
  private func configurationText(_ path: String) throws -> [UInt8]? {
    do { return try readConfiguration(path) } catch let error as FileError
      where error.kind == .accessDenied
    {
      throw CommandFailure(
        .noPermission, kind: "no-permission",
        "the configuration cannot be read: \(error), and without it pins and limits would not hold",
        hint: "set HOME to the folder of this user, or name a file with '--config FILE'",
        path: path)
    }
  }

  /// Reads a file of a configuration; `nil` if it is not there.
  static func readFile(_ path: String) throws(FileError) -> [UInt8]? {
    do throws(FileError) {
      let file = try OpenFile(readingThroughLinks: path)
      var (all, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
      var count = try file.read(into: &buffer)
      // One byte more than may be tells that it is too long.
      while count > 0, all.count <= TOMLReader.mostBytes {
        all += buffer[..<count]
        count = try file.read(into: &buffer)
      }
      return all
    } catch {
      // A link that leads nowhere is a configuration that is away, and a folder that may not be searched can hold
      // one: without it pins and limits would not hold.
      if error.kind == .notFound, (try? FileStatus.of(path)) == nil { return nil }
      throw error
    }
  }

  /// The configuration of all users.
  var systemConfiguration: String { "/etc/urlcache-admin/config.toml" }

  private var userConfigurationFolder: String? {
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
    variable(name).flatMap { $0.isEmpty ? nil : $0 }
  }
}
