extension FieldFinding {
  /// Remarks about a stored response that are not among the remarks of a result, because neither freshness nor
  /// validators depend on them (RFC 9111 §4.2.1, §5.2).
  public static func all(about exchange: borrowing Exchange) -> [FieldFinding] {
    let fields = exchange.fields
    var fieldFindings = about(exchange.directives.control)
    // RFC 9111 §5.4 defines `Pragma` for requests only. Chromium, WebKit and OkHttp obey it in
    // responses, so a user may expect it to count.
    if fields.hasPragmaNoCache {
      fieldFindings.append(
        FieldFinding(.responsePragma, .pragma, fields.firstValue(of: .pragma) ?? []))
    }
    if case .fields? = exchange.directives.isPrivate {
      fieldFindings.append(FieldFinding(.forSharedCachesOnly, .cacheControl, Array("private".utf8)))
    }
    if case .fields(let names)? = exchange.directives.noCache {
      let list = Array(names.map(\.lowercased).joined(separator: Array(", ".utf8)))
      fieldFindings.append(FieldFinding(.fieldsToWithhold, .cacheControl, list))
    }
    // These fields have a single value, so a sender must not write a second line (RFC 9110 §5.3).
    for name in [KnownFieldName.date, .expires, .lastModified, .age, .entityTag] {
      if let second = fields.value(of: FieldName(name), at: 1) {
        fieldFindings.append(FieldFinding(.onlyFirstCounts, FieldName(name), second))
      }
    }
    let found = exchange.freshnessFields
    for (name, date) in [
      (FieldName.date, found.date), (.expires, found.expires), (.lastModified, found.lastModified),
    ] {
      if let finding = aboutWeekday(of: date, name, in: fields) { fieldFindings.append(finding) }
    }
    if let value = fields.firstValue(of: .age), value.contains(UInt8(ascii: ",")) {
      fieldFindings.append(FieldFinding(.onlyFirstCounts, .age, value))
    }
    return fieldFindings
  }

  private static func aboutWeekday(
    of date: DateField, _ name: FieldName, in fields: FieldSection
  ) -> FieldFinding? {
    guard let seconds = date.secondsSince1970, let value = fields.firstValue(of: name),
      HTTPDate.namesWrongDay(value, for: seconds)
    else { return nil }
    return FieldFinding(.wrongWeekday, name, value)
  }

  /// Remarks about ignored parts of a request (RFC 9111 §5.2.1).
  public static func all(about request: Request) -> [FieldFinding] {
    all(about: request, request.directives)
  }

  static func all(about request: Request, _ directives: RequestDirectives) -> [FieldFinding] {
    // Without `Cache-Control`, nothing in it can be ignored, and `Pragma` applies.
    guard directives.control.isPresent else { return [] }
    var fieldFindings = about(directives.control)
    for name in [CacheDirective.Name.maxAge, .minFresh, .maxStale, .staleIfError] {
      guard case .invalid? = directives.control.seconds(name) else { continue }
      if name == .maxStale, directives.maxStale == .any { continue }
      fieldFindings.append(
        FieldFinding(.invalidRequestDirective, .cacheControl, Array(name.rawValue.utf8)))
    }
    if request.fields.hasPragmaNoCache {
      fieldFindings.append(FieldFinding(.overriddenByCacheControl, .pragma))
    }
    return fieldFindings
  }

  /// Remarks about ignored or recovered parts of `Cache-Control`.
  private static func about(_ control: CacheControl) -> [FieldFinding] {
    let contradictory = control.contradictory.map {
      FieldFinding(.onlyFirstCounts, .cacheControl, Array($0.name.rawValue.utf8))
    }
    if control.isRegular { return contradictory }
    return contradictory
      + control.unknown.map { FieldFinding(.unknownDirective, .cacheControl, $0) }
      + control.malformed.map { FieldFinding(.malformedDirective, .cacheControl, $0) }
      + control.unclosed.map { FieldFinding(.unclosedQuote, .cacheControl, $0) }
  }
}
