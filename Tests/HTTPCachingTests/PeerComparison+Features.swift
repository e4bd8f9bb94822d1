import HTTPCaching

// What the classes of disagreement are told by.
extension PeerComparison {
  /// How often a directive is there.
  func count(of name: CacheDirective.Name) -> Int {
    exchange.directives.control.directives.count { $0.name == name }
  }

  /// Whether the lifetime depends on a date that is none to us.
  var dependsOnInvalidDate: Bool {
    switch freshness.lifetime.basis {
    case .invalidExpires, .none(.invalidLastModified): true
    case .expires, .heuristic: exchange.date.isInvalid
    case .maxAge, .invalidMaxAge, .none: false
    }
  }

  /// Whether the lifetime depends on a date that says the year 70, which is 2070 to us and 1970 to
  /// them.
  var dependsOnYear70: Bool {
    [.expires, .heuristic].contains(freshness.lifetime.source)
      && [FieldName.date, .expires, .lastModified].contains(where: hasYear70)
  }

  /// Whether they may read another date in `Last-Modified` than we do.
  var readsOtherLastModified: Bool {
    exchange.freshnessFields.lastModified.isInvalid || hasYear70(.lastModified)
  }

  func hasYear70(_ name: FieldName) -> Bool {
    exchange.fields.firstValue(of: name).map { text($0).contains("Jan-70") } ?? false
  }

  var hasOpenQuote: Bool { !exchange.directives.control.unclosed.isEmpty }

  /// Whether their lifetime is a tenth of the time from `Last-Modified` to now, but at most a
  /// week.
  var isTheirHeuristic: Bool {
    guard let modified = exchange.freshnessFields.lastModified.secondsSince1970 else {
      return false
    }
    return theirs.lifetime == min(604_800, (peerCase.received - modified) / 10)
  }

  /// The time since `Date`, and nothing else.
  var theirAge: Int64? {
    exchange.date.secondsSince1970.map { max(0, peerCase.now - $0) }
  }

  var theyFindFresh: Bool { theirs.lifetimeNow.map { $0 > theirs.age } ?? false }

  /// Whether the two requests differ as text in a field that is nominated.
  var hasOtherSpacing: Bool {
    guard case .matches(let names) = reuse.vary else { return false }
    return names.contains {
      peerCase.presentedRequest.fields.values(of: $0)
        != exchange.request?.fields.values(of: $0)
    }
  }

  /// Whether the 304 names the field in `Connection`.
  var isNamedByConnection: Bool {
    PeerCase.fields(peerCase.notModified).values(of: .connection)
      .contains { text($0).lowercased().contains(field) }
  }
}

extension DateField {
  var isInvalid: Bool {
    if case .invalid = self { true } else { false }
  }
}
