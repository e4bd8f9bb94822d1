import Administration
import Rendering

extension CommandFailure {
  /// Creates a failure from an error in a configuration file.
  init(_ error: ConfigurationError) {
    self.init(
      .configuration, kind: "configuration", error.message, hint: error.hint, path: error.place.path
    )
  }
}

extension ConfigurationError {
  /// The error, with a mark below its position.
  var message: String {
    "\(place.shown): \(printable(reason))\n"
      + MarkedText.text(place.text, marking: place.range)
  }
}

extension ConfigurationPlace {
  /// The file, line and column.
  var shown: String { "\(printable(path)):\(line):\(column)" }
}

extension Configuration {
  /// Rejects a configuration with any error: ignoring an unknown setting could remove what it protects.
  func checkAll(in environment: CommandEnvironment) throws(CommandFailure) {
    if let error = allErrors.first { throw CommandFailure(error) }
    for setting in Setting.allCases {
      // Values in files were checked when the files were read, and have a position there. Variables
      // have none.
      guard let value = value(of: setting, forCache: nil), case .variable(let name) = value.origin
      else { continue }
      do throws(WrittenValueError) { try setting.check(value.text) } catch {
        throw CommandFailure(
          .configuration, kind: "configuration",
          "invalid value of the environment variable \(name): '\(printable(error.text))' \(error.reason)",
          hint: error.hint)
      }
    }
  }
}
