import Administration

extension CommandLineWords {
  /// The names of the commands that are about one cache.
  private static let verbsOfOneCache: Set<String> = [
    "list", "ls", "show", "body", "usage", "du", "explain", "purge", "enforce", "trim", "compact",
    "check", "export", "import", "apply", "diff", "revalidate", "report", "policy",
    "metrics",
  ]

  /// Whether the configuration has a say in the command.
  var isConfigured: Bool { words.first.map { Self.verbsOfOneCache.contains($0) } ?? false }

  /// Whether the command is to be run for each cache that has a name.
  var isForAllCaches: Bool {
    // All metrics are one output.
    isConfigured && words.first != "metrics" && has("--all-caches")
  }

  /// Whether nothing is to be changed.
  var isDryRun: Bool { has("-n") || has("--dry-run") }

  /// The file that is named as the configuration.
  var configurationFile: String? { value(of: "--config") }

  /// The command for one of all caches.
  func forCache(_ name: String) -> CommandLineWords {
    var result = self
    result.words.removeAll { $0 == "--all-caches" }
    result.words.insert("--cache=\(name)", at: Self.verbCount(of: words))
    return result
  }

  /// Refuses to run a command for all caches that is about one.
  func checkAllCaches() throws(CommandFailure) {
    if has("-c") || has("--cache") {
      throw .usage("'--all-caches' and '-c' exclude each other")
    }
    if let verb = words.first, ["import", "apply", "diff", "report"].contains(verb) {
      throw .usage("'\(verb)' is about one cache, and takes no '--all-caches'")
    }
  }

  /// The command with what the configuration sets, where it has the option and does not say it.
  func configured(by configuration: Configuration) -> CommandLineWords {
    guard let verb = words.first else { return self }
    let name =
      value(of: "-c") ?? value(of: "--cache")
      ?? configuration.value(of: .cache, forCache: nil)?.text
    var result = self
    for setting in Setting.allCases where isOption(setting, of: verb) {
      guard !has("--\(setting.rawValue)"),
        let value = configuration.value(of: setting, forCache: name), value.origin != .builtIn
      else { continue }
      if setting != .onlyIfOver {
        result.words.insert("--\(setting.rawValue)=\(value.text)", at: Self.verbCount(of: words))
      } else if value.text == "true" {
        result.words.insert("--\(setting.rawValue)", at: Self.verbCount(of: words))
      }
    }
    return result
  }

  /// The words that can be options.
  private var options: ArraySlice<String> {
    words.prefix { $0 != "--" }.dropFirst(Self.verbCount(of: words))
  }

  private func has(_ option: String) -> Bool {
    options.contains { $0 == option || $0.utf8.starts(with: "\(option)=".utf8) }
  }

  /// The value of an option; `nil` if it is not there.
  func value(of option: String) -> String? {
    for (index, word) in zip(options.indices, options) {
      if word == option { return options[(index + 1)...].first }
      if word.utf8.starts(with: "\(option)=".utf8) {
        return String(word.utf8.dropFirst(option.utf8.count + 1))
      }
    }
    return nil
  }

  /// Whether the command has the option of a setting that the configuration sets; the cache itself is
  /// found when it is opened.
  private func isOption(_ setting: Setting, of verb: String) -> Bool {
    // What caches are found below folders is not known, so no limit is.
    if has("--all-under") { return false }
    let changing = ["purge", "enforce", "trim", "apply", "revalidate"]
    return switch setting {
    case .cache: false
    case .wait: true
    case .maxDelete: changing.contains(verb) || verb == "check" && has("--repair")
    case .capacity: ["usage", "du", "report", "enforce", "trim"].contains(verb)
    default: ["enforce", "trim"].contains(verb)
    }
  }
}
