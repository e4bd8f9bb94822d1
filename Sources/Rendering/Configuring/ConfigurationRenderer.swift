public import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders the settings of a configuration with their origins.
public struct ConfigurationRenderer {
  /// A setting of one cache or of all caches.
  private struct Row {
    var cache: String?
    var name: String
    var value: Configuration.Value
  }

  private let configuration: Configuration

  /// Creates a renderer.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
  }

  /// Appends a table for people.
  public func appendTable(into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "CACHE"), .init(title: "SETTING"), .init(title: "VALUE"), .init(title: "FROM"),
    ])
    for row in rows {
      table.append(
        [row.cache ?? "all", row.name, row.value.text, Self.text(row.value.origin)]
          .map { Array(HostileText.shown($0).utf8) })
    }
    table.append(to: &buffer)
  }

  /// Appends one JSON object.
  ///
  /// - Parameter paths: The paths of the configuration files, whether or not they exist.
  public func appendJSON(paths: [String], into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: "config") {
      $0.array("files", .lines, objects: paths) { json, path in
        json.member("path", path)
        // Files that do not exist are listed too, as a file in the wrong place has no effect.
        json.member("found", configuration.files.contains { $0.path == path })
      }
      $0.array("settings", .lines, objects: rows) { json, row in
        json.member("cache", row.cache)
        json.member("name", row.name)
        json.member("value", row.value.text)
        Self.write(row.value.origin, to: &json)
      }
    }
  }

  /// The settings for all caches, followed by those of each cache that differ.
  private var rows: [Row] {
    var rows: [Row] = []
    for setting in Setting.allCases {
      if let value = configuration.value(of: setting, forCache: nil) {
        rows.append(Row(cache: nil, name: setting.rawValue, value: value))
      }
    }
    rows += pinRows(of: configuration.files.flatMap(\.pins), cache: nil)
    for query in configuration.queries {
      let values =
        query.conditions.map { ("where", $0) } + (query.sort.map { [("sort", $0)] } ?? [])
        + (query.columns.map { [("columns", $0)] } ?? [])
      for (name, value) in values {
        rows.append(
          Row(
            cache: nil, name: "saved.\(query.name).\(name)",
            value: .init(text: value.text, origin: .file(value.place))))
      }
    }
    for name in configuration.cacheNames + configuration.pinnedPaths {
      if let path = configuration.path(ofCache: name) {
        rows.append(Row(cache: name, name: "path", value: path))
      }
      for setting in Setting.allCases {
        if let value = configuration.value(of: setting, forCache: name),
          // What is the same for all caches is shown once. A row for every setting of every cache
          // would hide the few that differ.
          value != configuration.value(of: setting, forCache: nil)
        {
          rows.append(Row(cache: name, name: setting.rawValue, value: value))
        }
      }
      let caches = configuration.files.flatMap(\.caches).filter { $0.name == name }
      rows += pinRows(of: caches.flatMap(\.pins), cache: name)
    }
    return rows
  }

  /// Returns a row for each pinned URL.
  private func pinRows(of pins: [Pin], cache: String?) -> [Row] {
    pins.map { pin in
      let url = SecretPolicy().url(pin.url, for: .people)
      let value = Configuration.Value(
        text: String(decoding: url.bytes, as: UTF8.self), origin: .file(pin.place))
      return Row(cache: cache, name: "pinned", value: value)
    }
  }

  /// Returns an origin for people.
  static func text(_ origin: Configuration.Value.Origin) -> String {
    switch origin {
    case .variable(let name): name
    case .file(let place): "\(place.path):\(place.line)"
    case .builtIn: "built in"
    }
  }

  /// Writes the members for an origin; `nil` is an option of the command line.
  static func write(_ origin: Configuration.Value.Origin?, to json: inout JSONWriter) {
    let (name, variable, place): (String, String?, ConfigurationPlace?) =
      switch origin {
      case .variable(let variable): ("environment", variable, nil)
      case .file(let place): ("file", nil, place)
      case .builtIn: ("built-in", nil, nil)
      case nil: ("option", nil, nil)
      }
    json.member("origin", name)
    json.member("variable", variable)
    json.member("path", place?.path)
    json.member("line", place?.line)
    // Editors and other programs can go to this place.
    json.member("column", place?.column)
  }
}
