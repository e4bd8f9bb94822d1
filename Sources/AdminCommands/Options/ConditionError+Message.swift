import Administration
import Rendering

extension ConditionError {
  /// Returns the error in an expression, with a mark below its position.
  ///
  /// - Parameter subject: The expression and its origin, in words.
  func message(about subject: String, _ text: String) -> String {
    "cannot parse \(subject): \(printable(reason))\n"
      + MarkedText.text(text, marking: range)
  }
}
