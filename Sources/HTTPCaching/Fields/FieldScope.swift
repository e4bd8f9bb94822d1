/// The part of a response that a directive applies to (RFC 9111 §5.2.2.4, §5.2.2.7).
public enum FieldScope: Hashable, Sendable {
  /// The whole response: the directive has no argument, or one that names no field.
  case wholeResponse

  /// Only the named header fields: the qualified form of the directive.
  case fields([FieldName])

  /// Reads the directives with a name; `nil` if there are none.
  ///
  /// If one of them applies to the whole response, all do: the strictest counts. An argument that is not a list of
  /// field names also applies to the whole response.
  init?(_ name: CacheDirective.Name, in control: CacheControl) {
    guard control.contains(name) else { return nil }
    var fields: [FieldName] = []
    for directive in control.directives where directive.name == name {
      guard let names = Self.names(directive.argument) else {
        self = .wholeResponse
        return
      }
      fields += names
    }
    if fields.isEmpty { return nil }
    self = .fields(fields)
  }

  private static func names(_ argument: CacheDirective.Argument?) -> [FieldName]? {
    guard let text = argument?.text else { return nil }
    let names = ListMembers(text).members.map { FieldName($0) }
    // RFC 9111 §5.2.2.4 notes that many caches treat the qualified form as the unqualified one,
    // which is the safe reading of an argument that cannot be understood.
    return names.isEmpty || !names.allSatisfy(\.isValid) ? nil : names
  }
}
