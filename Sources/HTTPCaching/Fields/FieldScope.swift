/// What part of a response a directive is about (RFC 9111 §5.2.2.4, §5.2.2.7).
public enum FieldScope: Hashable, Sendable {
  /// All of it: the directive has no argument, or one that names no field.
  case wholeResponse

  /// The named header fields alone: the qualified form.
  case fields([FieldName])

  /// Reads the directives of a name, or returns `nil` if there is none.
  ///
  /// Where one of them is about the whole response, all are: the strictest counts. So does one
  /// whose argument is not a list of field names.
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
    return names.isEmpty || !names.allSatisfy(\.isValid) ? nil : names
  }
}
