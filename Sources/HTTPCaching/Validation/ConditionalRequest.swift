/// The request that asks the origin whether a stored response is still good (RFC 9111 §4.3.1).
public struct ConditionalRequest: Hashable, Sendable {
  /// What the request is for.
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    /// To learn whether the stored response may still be used.
    case validation
    /// To get the missing end of a body, or all of it, if it has changed (RFC 9111 §3.4).
    case completion
    /// To get everything again: there is nothing to ask with.
    case replacement
  }

  /// What the request is for.
  public let purpose: Purpose

  /// The lines that were added, in their order.
  public let conditions: [FieldLine]

  /// The request without what was added, and without lines of the same names.
  public let unconditional: Request

  /// What the stored response can be validated with.
  public let validators: Validators

  /// What the validators cannot do, and what was left out.
  public let remarks: [Remark]

  /// Makes the request (RFC 9111 §4.3.1, RFC 9110 §13).
  ///
  /// `If-None-Match` and `If-Modified-Since` are both sent where there is something to send, and
  /// verbatim; a `Last-Modified` that is no date is not sent, and nothing is made up. To complete a
  /// body `Range` and `If-Range` are sent, with a strong validator only. Lines of these names in
  /// the presented request are replaced.
  ///
  /// - Parameter presented: The request to start from, or `nil` to make one of the stored: its
  ///   method, its target and the fields that `Vary` names.
  public init(validating exchange: borrowing Exchange, for presented: Request?) {
    let validators = Validators(of: exchange)
    self.validators = validators
    let start = presented ?? Self.synthesized(from: exchange)
    let body = start.isHead ? .complete : StoredBody(of: exchange)
    switch body {
    case .start(let bytes):
      if let validator = validators.forRange {
        purpose = .completion
        conditions = [
          Self.line("Range", Array("bytes=\(bytes)-".utf8)), Self.line("If-Range", validator),
        ]
      } else {
        // A 304 would leave the body as incomplete as it is.
        purpose = .replacement
        conditions = []
      }
    case .fragment:
      purpose = .replacement
      conditions = []
    case .complete:
      var lines: [FieldLine] = []
      if let tag = validators.entityTag { lines.append(Self.line("If-None-Match", tag.verbatim)) }
      if let date = validators.lastModified {
        lines.append(Self.line("If-Modified-Since", date.verbatim))
      }
      purpose = lines.isEmpty ? .replacement : .validation
      conditions = lines
    }
    unconditional = start.withoutConditions
    remarks = validators.remarks
  }

  /// The request, ready to be sent.
  public var request: Request {
    var request = unconditional
    request.fields.lines += conditions
    return request
  }

  /// A request for the same as the stored one (RFC 9111 §4.3.1).
  private static func synthesized(from exchange: borrowing Exchange) -> Request {
    var lines: [FieldLine] = []
    let stored = exchange.varyRecord ?? exchange.request?.fields ?? FieldSection()
    if case .fields(let names) = exchange.vary {
      for name in names { lines += stored.lines.filter { name.matches($0) } }
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
  /// The request without the lines that ask on a condition, or for a part.
  fileprivate var withoutConditions: Request {
    // Hardly any has one, and nothing is to be copied then.
    guard fields.lines.contains(where: \.isCondition) else { return self }
    var request = self
    request.fields.lines.removeAll(where: \.isCondition)
    return request
  }
}

extension FieldLine {
  /// Whether this asks on a condition, or for a part.
  fileprivate var isCondition: Bool {
    switch known {
    case .ifNoneMatch, .ifModifiedSince, .ifRange, .range: true
    default: false
    }
  }
}
