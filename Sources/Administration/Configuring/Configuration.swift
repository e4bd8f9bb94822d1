import Bytes

/// What holds for a command line that does not say it: environment variables go before files, and of
/// files the first before the second; in each, what is set for a cache goes before what is set for all.
public struct Configuration: Sendable {
  /// A value, and where it is from.
  public struct Value: Hashable, Sendable {
    /// Where a value is from.
    public enum Origin: Hashable, Sendable {
      case variable(String)
      case file(ConfigurationPlace)
      case builtIn
    }

    /// The value, as the option of the same name takes it.
    public let text: String
    /// Where it is from.
    public let origin: Origin

    /// Creates a value.
    public init(text: String, origin: Origin) { (self.text, self.origin) = (text, origin) }
  }

  /// The files, that of the user first.
  public let files: [ConfigurationFile]
  private let variables: [Setting: String]

  /// Creates a configuration.
  ///
  /// - Parameter variable: Returns an environment variable.
  public init(files: [ConfigurationFile] = [], variable: (String) -> String? = { _ in nil }) {
    self.files = files
    variables = Setting.allCases.reduce(into: [:]) { result, setting in
      if let text = variable(setting.variable), !text.isEmpty { result[setting] = text }
    }
  }

  /// What is set; `nil` if nothing is.
  ///
  /// - Parameter name: The name of the cache that the command is about, if it has one.
  public func value(of setting: Setting, forCache name: String?) -> Value? {
    let settings = setting == .capacity ? [.capacity, .preset] : [setting]
    for given in settings {
      if let text = variables[given] {
        return Value(
          text: Self.text(text, of: given, as: setting), origin: .variable(given.variable))
      }
    }
    for file in files {
      let cache = file.caches.first { $0.name == name }
      for values in [cache?.settings ?? [:], file.settings] {
        guard let given = settings.first(where: { values[$0] != nil }), let value = values[given]
        else { continue }
        return Value(
          text: Self.text(value.text, of: given, as: setting), origin: .file(value.place))
      }
    }
    return setting.builtIn.map { Value(text: $0, origin: .builtIn) }
  }

  /// The text of a setting that another one may stand for: a preset for a capacity.
  private static func text(_ text: String, of given: Setting, as setting: Setting) -> String {
    guard given != setting, let preset = CapacityPreset(rawValue: text) else { return text }
    return "\(preset.diskBytes.bytes)"
  }

  /// The path of a cache with a name; `nil` if none has it.
  public func path(ofCache name: String) -> Value? {
    for file in files {
      if let path = file.caches.first(where: { $0.name == name })?.path {
        return Value(text: path.text, origin: .file(path.place))
      }
    }
    return nil
  }

  /// The names of caches whose paths are known, each once, in the order of the files.
  public var cacheNames: [String] {
    var names: [String] = []
    for cache in files.flatMap(\.caches) where !names.contains(cache.name) {
      if path(ofCache: cache.name) != nil { names.append(cache.name) }
    }
    return names
  }

  /// The rules for a cache, in the order in which they are tried: of each file those for the cache before
  /// those for all.
  ///
  /// - Parameter name: The name of the cache, if it has one.
  public func rules(forCache name: String?) -> [EntryRule] {
    files.flatMap { file in
      (file.caches.first { $0.name == name }?.rules ?? []) + file.rules
    }
  }

  /// All rules of all files.
  public var allRules: [EntryRule] {
    files.flatMap { file in file.caches.flatMap(\.rules) + file.rules }
  }

  /// Everything that is wrong with the files.
  public var errors: [ConfigurationError] {
    let errors = files.flatMap(\.errors)
    // The path may be what is wrong.
    return errors.isEmpty
      ? cachesWithoutPath.map { cache in
        ConfigurationError(
          "the cache '\(cache.name)' has no path", at: cache.place,
          hint: "write 'path = \"/…\"' below '[caches.\(cache.name)]', or remove the section")
      } : errors
  }

  /// The sections of caches that no file has a path for: what they set would hold for no cache.
  public var cachesWithoutPath: [ConfigurationFile.NamedCache] {
    files.flatMap(\.caches).filter { cache in
      !files.contains { $0.caches.contains { $0.name == cache.name && $0.hasPath } }
    }
  }
}
