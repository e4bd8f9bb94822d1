/// A request that asks the origin whether a stored response is still valid (RFC 9111 §4.3.1).
public struct ConditionalRequest: Hashable, Sendable {
  /// The purpose of the request.
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    /// To check whether the stored response may still be used.
    case validation
    /// To get the missing end of a body, or the whole body if it has changed (RFC 9111 §3.4).
    case completion
    /// To get everything again, because there is no usable validator.
    case replacement
  }

  /// The purpose of the request.
  public let purpose: Purpose

  /// The field lines that were added, in order.
  public let conditions: [FieldLine]

  /// The request without the added lines and without any lines of the same names.
  public let unconditional: Request

  /// The validators of the stored response.
  public let validators: Validators

  /// Whether the stored response must not be used even if the origin confirms it (RFC 9111 §5.2.2.5).
  public let isForbidden: Bool

  /// Remarks about the limits of the validators and about ignored fields.
  public let fieldFindings: [FieldFinding]

  /// Creates the request (RFC 9111 §4.3.1, RFC 9110 §13).
  ///
  /// `If-None-Match` and `If-Modified-Since` are both sent if there are validators for them, verbatim. A
  /// `Last-Modified` that is not a date is not sent, and no date is made up in its place. To complete a body, `Range`
  /// and `If-Range` are sent, but only with a strong validator. Lines with these names in the presented request are
  /// replaced.
  ///
  /// - Parameter presented: The request to start from, or `nil` to use the method and the target of the stored request,
  ///   with the fields that `Vary` names.
  public init(validating exchange: borrowing Exchange, for presented: Request?) {
    let validators = Validators(of: exchange)
    self.validators = validators
    // Other fields of the stored request are left out. They may be credentials, and what an app
    // would send today is not known.
    let start = presented ?? Self.synthesized(from: exchange)
    // A response to HEAD has no body that could be incomplete.
    let body = start.isHead ? .complete : StoredBody(of: exchange)
    isForbidden = ReuseReason.forbiddance(exchange) != nil
    // The cache keeps the answer for this range only.
    let range =
      exchange.isKeyedByRange
      ? exchange.request?.fields.lines.filter { $0.known == .range } ?? [] : []
    switch body {
    case _ where isForbidden:
      purpose = .replacement
      conditions = range
    case .start(let bytes):
      if let validator = validators.forRange {
        purpose = .completion
        // No `If-None-Match` next to `Range`: a 304 would say that the stored part is current, and
        // not send the rest.
        conditions = [
          Self.line("Range", Array("bytes=\(bytes)-".utf8)), Self.line("If-Range", validator),
        ]
      } else {
        // A 304 would leave the body incomplete.
        purpose = .replacement
        conditions = []
      }
    case .fragment:
      purpose = .replacement
      conditions = range
    case .complete:
      var lines: [FieldLine] = []
      // Send both: a server that understands the tag ignores the date (RFC 9110 §13.1.3).
      if let tag = validators.entityTag { lines.append(Self.line("If-None-Match", tag.verbatim)) }
      if let date = validators.lastModified {
        // Verbatim, as some servers honor only an exact match of the date (RFC 9110 §13.1.3).
        lines.append(Self.line("If-Modified-Since", date.verbatim))
      }
      purpose = lines.isEmpty ? .replacement : .validation
      conditions = range + lines
    }
    unconditional = start.withoutConditions
    fieldFindings = validators.fieldFindings
  }

  /// The complete request.
  public var request: Request {
    var request = unconditional
    request.fields.lines += conditions
    return request
  }

  /// A request equivalent to the stored one (RFC 9111 §4.3.1).
  private static func synthesized(from exchange: borrowing Exchange) -> Request {
    var lines: [FieldLine] = []
    let stored = exchange.varyRecord ?? exchange.request?.fields ?? FieldSection()
    // Without the fields that `Vary` names, the origin could select another variant.
    if case .fields(let names) = exchange.vary {
      for (name, section) in zip(names, stored.sections(with: names)) {
        lines += section.lines.filter { name.matches($0) }
      }
    }
    return Request(
      method: exchange.request?.method ?? Request.get, targetURI: exchange.request?.targetURI,
      fields: FieldSection(lines))
  }

  private static func line(_ name: String, _ value: [UInt8]) -> FieldLine {
    FieldLine(name: Array(name.utf8), value: value)
  }
}

extension Request {
  /// The request without conditions and ranges.
  fileprivate var withoutConditions: Request {
    // Few requests have conditions. Without any, nothing is copied.
    guard fields.lines.contains(where: \.isCondition) else { return self }
    var request = self
    request.fields.lines.removeAll(where: \.isCondition)
    return request
  }
}

extension FieldLine {
  /// Whether this is a condition or a range.
  fileprivate var isCondition: Bool {
    switch known {
    case .ifNoneMatch, .ifModifiedSince, .ifRange, .range: true
    default: false
    }
  }
}
