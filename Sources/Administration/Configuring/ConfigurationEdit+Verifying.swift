extension ConfigurationEdit {
  /// Parses the new text, and compares its settings with the old ones.
  ///
  /// - Parameter value: The new value; `nil` if the setting is removed.
  func verify(_ new: [UInt8], _ key: Key, _ value: String?) throws(Failure) {
    guard (try? TOMLReader.read(new)) != nil else { throw Failure.unchangeable }
    let file = ConfigurationFile(new, path: path, home: home)
    if let error = file.errors.first {
      // The user must see whether the value just given is wrong, or a line that was wrong before.
      let isOld = self.file.errors.contains {
        $0.reason == error.reason && $0.place.text == error.place.text
      }
      throw Failure(
        isOld ? "line \(error.place.line) of the file has an error: \(error.reason)" : error.reason,
        hint: isOld ? "list all errors with 'urlcache-admin config check'" : error.hint,
        isOfFile: isOld)
    }
    var expected = Self.values(of: self.file)
    let changed = Self.values(of: file)
    // Only this setting may differ.
    expected[key] = changed[key]
    guard changed == expected, (changed[key] != nil) == (value != nil) else {
      throw Failure.unchangeable
    }
  }

  /// Returns all settings of a file, without their places.
  private static func values(of file: ConfigurationFile) -> [Key: String] {
    var values: [Key: String] = [:]
    for (setting, value) in file.settings {
      values[Key(cache: nil, name: setting.rawValue)] = value.text
    }
    for cache in file.caches {
      values[Key(cache: cache.name, name: "path")] = cache.path?.text
      for (setting, value) in cache.settings {
        values[Key(cache: cache.name, name: setting.rawValue)] = value.text
      }
      if !cache.rules.isEmpty {
        values[Key(cache: cache.name, name: "rules")] = "\(cache.rules.count)"
      }
      values[.pins(ofCache: cache.name)] = text(of: cache.pins)
    }
    values[.pins(ofCache: nil)] = text(of: file.pins)
    values[Key(cache: nil, name: "rules")] = "\(file.rules.count)"
    for query in file.queries {
      let texts = (query.conditions + [query.sort, query.columns].compactMap { $0 }).map(\.text)
      values[Key(cache: nil, name: "saved.\(query.name)")] = texts.joined(separator: "\n")
    }
    return values
  }
}
