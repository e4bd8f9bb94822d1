import Bytes
public import HTTPCaching
import ResponseStorage
import Secrets

extension Exchange {
  /// The fields of the stored request that are credentials; all of them only if the request was decoded with its header
  /// fields.
  public var credentials: [FieldLine] {
    let sent = (request?.fields.lines ?? []).filter(\.isCredential)
    // The record that CFNetwork keeps for `Vary` may have more than the archived request.
    let recorded = (varyRecord?.lines ?? []).filter { line in
      line.isCredential && !sent.contains { FieldName(of: $0).matches(line.name) }
    }
    return sent + recorded
  }
}

extension FieldLine {
  /// Whether the line of a request is a credential. A condition is none, whatever a server writes into its validators.
  public var isCredential: Bool {
    let conditions: [FieldName] = [.ifNoneMatch, .ifModifiedSince, .ifRange, .range]
    return Credentials.areIn(fieldNamed: name[...], value[...])
      && !conditions.contains { $0.matches(name) }
  }

  /// Whether the line is valid, and not about the connection, the length of a body, which the client sets, or the proxy,
  /// whose password a server must not get. A cache may contain anything, so stored fields are checked.
  public var isSendable: Bool {
    let reserved: [FieldName] = [
      "Host", "Content-Length", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
      "Transfer-Encoding", "Upgrade", "Expect", .proxyAuthorization,
    ]
    return FieldName(name).isValid && !reserved.contains { $0.matches(name) }
      && !value.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
      && String(validating: value, as: UTF8.self) != nil
  }
}

extension Explanation {
  /// The credentials with which a response was stored, without which nothing validates it.
  public enum StoredCredentials: Hashable, Sendable {
    /// None that are known.
    case none
    /// Some that are sent on request: in the header section, or in the URL.
    case sendable
    /// Some that are never sent.
    case unsendable
  }

  /// Whether a line of a request is a credential that the inquiry did not give, so that it is sent only on request.
  public func isStoredCredential(_ line: FieldLine) -> Bool {
    line.isCredential && !inquiry.fields.contains { FieldName(of: $0).matches(line.name) }
  }

  /// The credentials with which the response was stored, if its request was decoded with all header fields.
  public var credentials: StoredCredentials {
    guard let details else { return .none }
    let fields = details.exchange.credentials
    if !fields.allSatisfy(\.isSendable) { return .unsendable }
    let target = details.exchange.request?.targetURI ?? url?.bytes ?? []
    let isInURL = URLParts(target, allowsAnyScheme: true).authority?.userInfo != nil
    return fields.isEmpty && !isInURL ? .none : .sendable
  }
}
