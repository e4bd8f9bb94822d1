/// What becomes of a stored response when a 304 updates it (RFC 9111 §3.2, §4.3.4).
public struct Freshening: Hashable, Sendable {
  /// Why a field of the 304 does not replace that of the stored response.
  public enum Exemption: String, Hashable, Sendable, CaseIterable {
    /// It is about the body of the stored response, which the 304 has not (RFC 9111 §3.2).
    case contentLength = "content-length"
    /// It is about the connection that the 304 came over, or `Connection` names it
    /// (RFC 9110 §7.6.1).
    case connection
    /// It is between the cache and its proxy (RFC 9111 §3.1).
    case proxy
    /// `no-cache` of the updated response names it, so that it is not to be stored
    /// (RFC 9111 §3.1).
    case noCache = "no-cache"
    /// It describes how the body was coded before the cache decoded it (RFC 9111 §3.2).
    case decodedBody = "decoded-body"
  }

  /// What the 304 did to a field.
  public enum Change: Hashable, Sendable {
    /// The stored response did not have it.
    case added
    /// Its lines were replaced by others.
    case replaced
    /// It had the same lines already.
    case same
    /// It was left as it was.
    case exempt(Exemption)
    /// It was removed: the stored `Age` is that of the old response, and the 304 has none.
    case removed
  }

  /// What the 304 did to one field.
  public struct FieldChange: Hashable, Sendable {
    /// The field.
    public let name: FieldName

    /// What was done to it.
    public let change: Change
  }

  /// The stored response with the fields of the 304, and its times.
  public let exchange: Exchange

  /// What was done to each field of the 304, in its order, and to `Age`.
  public let changes: [FieldChange]

  /// Updates a stored response (RFC 9111 §3.2).
  ///
  /// Each field of the 304 replaces all lines of its name; what it does not have stays, and so does
  /// the status. `Age` alone goes if the 304 has none: it told the age of the old response.
  ///
  /// - Parameter bodyIsDecoded: Whether the cache stores bodies without their content coding, as
  ///   `URLCache` does: then the fields that describe the coded body stay.
  public init(_ stored: Exchange, by response: NotModified, bodyIsDecoded: Bool = true) {
    // `Cache-Control` of the 304 replaces the stored.
    let directives =
      response.fields.contains(.cacheControl)
      ? ResponseDirectives(response.fields) : stored.directives
    let exempt = Exemptions(response.fields, directives, bodyIsDecoded: bodyIsDecoded)
    var changes: [FieldChange] = []
    var lines = stored.fields.lines
    for line in response.fields.lines {
      let name = FieldName(line.name)
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
      let place = lines.firstIndex { name.matches($0.name) } ?? lines.endIndex
      lines.removeAll { name.matches($0.name) }
      lines.insert(contentsOf: new, at: place)
    }
    if !response.fields.contains(.age), stored.fields.contains(.age) {
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

/// The fields of a 304 that update nothing (RFC 9111 §3.1, §3.2).
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
    case .contentEncoding where bodyIsDecoded, .contentRange where bodyIsDecoded,
      "Content-Type" where bodyIsDecoded:
      .decodedBody
    default: named.contains(name) ? .connection : withheld.contains(name) ? .noCache : nil
    }
  }
}
