public import Administration
import Bytes

/// What a configuration sets, and from where.
public struct ConfigurationRenderer {
  /// A setting of one cache, or of all.
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
  /// - Parameter paths: The files that are read if they are there.
  public func appendJSON(paths: [String], into buffer: inout TextBuffer) {
    buffer.append("{\"schema\":\"urlcache-admin.config/1\",\"files\":[")
    for (index, path) in paths.enumerated() {
      buffer.append(index == 0 ? "\n{\"path\":" : ",\n{\"path\":")
      buffer.append(json: path)
      buffer.append(",\"found\":")
      buffer.append(configuration.files.contains { $0.path == path } ? "true}" : "false}")
    }
    buffer.append("\n],\"settings\":[")
    for (index, row) in rows.enumerated() {
      buffer.append(index == 0 ? "\n{\"cache\":" : ",\n{\"cache\":")
      buffer.append(json: row.cache)
      buffer.append(",\"name\":")
      buffer.append(json: row.name)
      buffer.append(",\"value\":")
      buffer.append(json: row.value.text)
      append(row.value.origin, into: &buffer)
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append("\n]}\n")
  }

  /// What is set for all caches, and then for each only what differs from that.
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
    for name in configuration.cacheNames {
      if let path = configuration.path(ofCache: name) {
        rows.append(Row(cache: name, name: "path", value: path))
      }
      for setting in Setting.allCases {
        if let value = configuration.value(of: setting, forCache: name),
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

  /// A row for each pinned URL.
  private func pinRows(of pins: [Pin], cache: String?) -> [Row] {
    pins.map { pin in
      let url = SecretPolicy().url(pin.url, for: .people)
      let value = Configuration.Value(
        text: String(decoding: url.bytes, as: UTF8.self), origin: .file(pin.place))
      return Row(cache: cache, name: "pinned", value: value)
    }
  }

  private static func text(_ origin: Configuration.Value.Origin) -> String {
    switch origin {
    case .variable(let name): name
    case .file(let place): "\(place.path):\(place.line)"
    case .builtIn: "built in"
    }
  }

  private func append(
    _ origin: Configuration.Value.Origin, into buffer: inout TextBuffer
  ) {
    let (name, variable, place): (String, String?, ConfigurationPlace?) =
      switch origin {
      case .variable(let variable): ("environment", variable, nil)
      case .file(let place): ("file", nil, place)
      case .builtIn: ("built-in", nil, nil)
      }
    buffer.append(",\"origin\":\"\(name)\",\"variable\":")
    buffer.append(json: variable)
    buffer.append(",\"path\":")
    buffer.append(json: place?.path)
    buffer.append(",\"line\":")
    buffer.append(json: place.map { Int64($0.line) })
    buffer.append(",\"column\":")
    buffer.append(json: place.map { Int64($0.column) })
  }
}
