import HTTPCaching

// The features that identify the classes of disagreement.
extension PeerComparison {
  /// Returns the number of occurrences of a directive.
  func count(of name: CacheDirective.Name) -> Int {
    exchange.directives.control.directives.count { $0.name == name }
  }

  /// Whether the lifetime depends on a date that this package rejects.
  var dependsOnInvalidDate: Bool {
    switch freshness.lifetime.basis {
    case .invalidExpires, .none(.invalidLastModified): true
    case .expires, .heuristic: exchange.date.isInvalid
    case .maxAge, .invalidMaxAge, .none: false
    }
  }

  /// Whether the lifetime depends on a date with the year 70, which this package reads as 2070 and hishel as 1970.
  var dependsOnYear70: Bool {
    [.expires, .heuristic].contains(freshness.lifetime.source)
      && [FieldName.date, .expires, .lastModified].contains(where: hasYear70)
  }

  /// Whether hishel may read a different date in `Last-Modified`.
  var readsOtherLastModified: Bool {
    exchange.freshnessFields.lastModified.isInvalid || hasYear70(.lastModified)
  }

  func hasYear70(_ name: FieldName) -> Bool {
    exchange.fields.firstValue(of: name).map { text($0).contains("Jan-70") } ?? false
  }

  var hasOpenQuote: Bool { !exchange.directives.control.unclosed.isEmpty }

  /// Whether hishel's lifetime is a tenth of the time from `Last-Modified` to now, but at most a week.
  var isTheirHeuristic: Bool {
    guard let modified = exchange.freshnessFields.lastModified.secondsSince1970 else {
      return false
    }
    return theirs.lifetime == min(604_800, (peerCase.received - modified) / 10)
  }

  /// The age in hishel, which is only the time since `Date`.
  var theirAge: Int64? {
    exchange.date.secondsSince1970.map { max(0, peerCase.now - $0) }
  }

  var theyFindFresh: Bool { theirs.lifetimeNow.map { $0 > theirs.age } ?? false }

  /// Whether a nominated field of the two requests differs as text.
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
