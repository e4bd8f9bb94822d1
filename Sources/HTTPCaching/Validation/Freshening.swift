/// The result of updating a stored response by a 304 (RFC 9111 §3.2, §4.3.4).
public struct Freshening: Hashable, Sendable {
  /// Why a field of the 304 does not replace the stored field.
  public enum Exemption: String, Hashable, Sendable, CaseIterable {
    /// The field describes the stored body, and a 304 has no body (RFC 9111 §3.2).
    case contentLength = "content-length"
    /// The field applies to the connection of the 304, or `Connection` names it (RFC 9110 §7.6.1).
    case connection
    /// The field is meant for a proxy (RFC 9111 §3.1).
    case proxy
    /// `no-cache` of the updated response names the field, so it must not be stored (RFC 9111 §3.1).
    case noCache = "no-cache"
    /// The field describes the coding of a body that the cache has decoded (RFC 9111 §3.2).
    case decodedBody = "decoded-body"
  }

  /// The effect of the 304 on a field.
  public enum Change: Hashable, Sendable {
    /// The stored response did not have the field.
    case added
    /// The lines of the field were replaced.
    case replaced
    /// The field already had the same lines.
    case same
    /// The field was not changed.
    case exempt(Exemption)
    /// The field was removed: it is an `Age` of the old response, and the 304 has none.
    case removed
  }

  /// The effect of the 304 on one field.
  public struct FieldChange: Hashable, Sendable {
    /// The field.
    public let name: FieldName

    /// The effect.
    public let change: Change
  }

  /// The stored response with the fields and the times of the 304.
  public let exchange: Exchange

  /// The effect on each field of the 304, in its order, and on `Age`.
  public let changes: [FieldChange]

  /// Updates a stored response (RFC 9111 §3.2).
  ///
  /// Each field of the 304 replaces all lines with its name. Other fields and the status are kept, except that `Age` is
  /// removed if the 304 has none: it applied to the old response.
  ///
  /// - Parameter bodyIsDecoded: Whether the cache stores bodies without their content coding, as `URLCache` does.
  ///   Fields that describe the coded body are then kept.
  public init(_ stored: Exchange, by response: NotModified, bodyIsDecoded: Bool = true) {
    // If the 304 has `Cache-Control`, it replaces the stored one.
    let directives =
      response.fields.contains(.cacheControl)
      ? ResponseDirectives(response.fields) : stored.directives
    let exempt = Exemptions(response.fields, directives, bodyIsDecoded: bodyIsDecoded)
    var changes: [FieldChange] = []
    var lines = stored.fields.lines
    for line in response.fields.lines {
      let name = FieldName(line.name)
      // All lines of a field are replaced together, at its first line.
      // A 304 with two lines of a field stands for the whole field: adding them to the stored lines
      // would mix two versions.
      guard !changes.contains(where: { $0.name == name }) else { continue }
      if let exemption = exempt.exemption(of: name) {
        changes.append(FieldChange(name: name, change: .exempt(exemption)))
        continue
      }
      let new = response.fields.lines.filter { name.matches($0.name) }
      let old = lines.filter { name.matches($0.name) }
      let isSame = old.map(\.value) == new.map(\.value)
      let change: Change = old.isEmpty ? .added : isSame ? .same : .replaced
      changes.append(FieldChange(name: name, change: change))
      // New lines take the place of the old ones, which keeps the order.
      let place = lines.firstIndex { name.matches($0.name) } ?? lines.endIndex
      lines.removeAll { name.matches($0.name) }
      lines.insert(contentsOf: new, at: place)
    }
    // Age is counted from the receipt of the 304 now, so a stored `Age` would count twice.
    if !response.fields.contains(.age), stored.fields.contains(.age) {
      // RFC 9111 §4.3.4 does not ask for this; it is a choice.
      lines.removeAll { FieldName.age.matches($0.name) }
      changes.append(FieldChange(name: .age, change: .removed))
    }
    self.changes = changes
    exchange = Exchange(
      request: stored.request, status: stored.status, fields: FieldSection(lines),
      requestTime: response.requestTime, responseTime: response.responseTime,
      varyRecord: stored.varyRecord, bodyBytes: stored.bodyBytes)
  }
}

/// The fields of a 304 that do not update the stored response (RFC 9111 §3.1, §3.2).
private struct Exemptions {
  var named: Set<FieldName> = []
  var withheld: Set<FieldName> = []
  var bodyIsDecoded: Bool

  init(_ fields: FieldSection, _ directives: ResponseDirectives, bodyIsDecoded: Bool) {
    self.bodyIsDecoded = bodyIsDecoded
    for value in fields.values(of: .connection) {
      named.formUnion(ListMembers(value).members.map { FieldName($0) })
    }
    if case .fields(let names)? = directives.noCache { withheld = Set(names) }
  }

  func exemption(of name: FieldName) -> Freshening.Exemption? {
    switch name {
    case .contentLength: .contentLength
    case "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
      "Upgrade":
      .connection
    case "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization": .proxy
    // RFC 9111 §3.2 lets a cache that stores decoded bodies keep these fields.
    case .contentEncoding where bodyIsDecoded, .contentRange where bodyIsDecoded,
      "Content-Type" where bodyIsDecoded:
      .decodedBody
    // Every other field is updated, also one that begins with `Content-`: RFC 9111 §3.2 has no
    // general exemption for those.
    default: named.contains(name) ? .connection : withheld.contains(name) ? .noCache : nil
    }
  }
}
