import Administration
import Rendering

extension CommandFailure {
  /// Says what is wrong with a configuration file, and where.
  init(_ error: ConfigurationError) {
    self.init(
      .configuration, kind: "configuration", error.message, hint: error.hint, path: error.place.path
    )
  }
}

extension ConfigurationError {
  /// What is wrong, with a mark under the place.
  var message: String {
    "\(place.shown): \(printable(reason))\n"
      + MarkedText.text(place.text, marking: place.range)
  }
}

extension ConfigurationPlace {
  /// The file, the line and the column.
  var shown: String { "\(printable(path)):\(line):\(column)" }
}

extension Configuration {
  /// Refuses a configuration of which anything is wrong: what is not understood must not be left out.
  func checkAll(in environment: CommandEnvironment) throws(CommandFailure) {
    if let error = allErrors.first { throw CommandFailure(error) }
    for setting in Setting.allCases {
      guard let value = value(of: setting, forCache: nil), case .variable(let name) = value.origin
      else { continue }
      do throws(WrittenValueError) { try setting.check(value.text) } catch {
        throw CommandFailure(
          .configuration, kind: "configuration",
          "the environment variable \(name) is wrong: '\(printable(error.text))' \(error.reason)",
          hint: error.hint)
      }
    }
  }
}
