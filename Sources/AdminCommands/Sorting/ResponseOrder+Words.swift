import Bytes
import Rendering

extension ResponseOrder {
  /// Which entries come first, for people: `smallest`; `nil` for an order of texts.
  var first: String? { ends.map { isDescending ? $0.last : $0.first } }

  /// The first words of the ascending and of the descending order.
  private var ends: (first: String, last: String)? {
    switch column {
    case .size, .disk, .announced: ("smallest", "largest")
    case .age, .currentAge: ("newest", "oldest")
    case .stored, .firstStored, .date, .lastModified: ("oldest", "newest")
    case .expiresAt: ("earliest", "latest")
    case .ttl, .lifetime: ("shortest", "longest")
    default: nil
    }
  }

  /// A hint at the opposite order, for an ascending one of which a limit hides the end.
  var hint: String? {
    guard !isDescending, let ends, let name = column.name.string else { return nil }
    return "list the \(ends.last) first with '--sort=-\(name)'"
  }
}
