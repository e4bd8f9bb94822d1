import Administration
import Rendering

extension ConditionError {
  /// What is wrong with an expression, with a mark under the place.
  ///
  /// - Parameter subject: What the expression is, with where it is from.
  func message(about subject: String, _ text: String) -> String {
    "\(subject) cannot be read: \(printable(reason))\n"
      + MarkedText.text(text, marking: range)
  }
}
