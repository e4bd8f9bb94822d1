public import Bytes
public import Matching
import ResponseStorage

extension WrittenValue {
  /// Parses a host, or `.` and a domain; rejects text that cannot be the host of a URL.
  public static func host(_ text: String) throws(WrittenValueError) -> HostPattern {
    let host = ByteString(text).asciiLowercased
    let bytes = host.bytes
    if bytes.contains(UInt8(ascii: "/")) {
      let parts = text.utf8.split(separator: UInt8(ascii: "/"))
      // Parse text such as `example.com/a` as a URL, too, to suggest its host.
      let found =
        CanonicalURL.host(of: host)
        ?? CanonicalURL.host(
          of: ByteString(Array("x://".utf8) + (parts.first.map(Array.init) ?? [])))
      throw WrittenValueError(
        text, "is a URL or a path, not a host",
        hint: found.flatMap(\.string).map { "use '\($0)'" }
          ?? "use a host such as 'example.com'")
    }
    // Certificates and proxies write subdomains like this. No host equals such a text, so it is
    // refused instead of selecting nothing.
    if bytes.starts(with: Array("*.".utf8)), !bytes.dropFirst().contains(UInt8(ascii: "*")) {
      let domain = String(decoding: bytes.dropFirst(), as: UTF8.self)
      throw WrittenValueError(
        text, "contains '*', which no host does",
        hint: "use '\(domain)' for that host and its subdomains")
    }
    if bytes.contains(UInt8(ascii: ",")) {
      throw WrittenValueError(
        text, "contains ',', which no host does", hint: "write one host in each value")
    }
    if bytes.contains(where: { "*? @".utf8.contains($0) }) {
      throw WrittenValueError(
        text, "is not a host",
        hint: "use a host, or '.example.com' for a host and its subdomains;"
          + " 'glob' matches whole URLs against a pattern")
    }
    // The brackets only separate an IPv6 address from the port (RFC 3986 §3.2.2), and stored hosts
    // are compared without them.
    if bytes.first == UInt8(ascii: "["), let end = bytes.firstIndex(of: UInt8(ascii: "]")) {
      throw WrittenValueError(
        text, "has brackets, which are not part of the host",
        hint: "use '\(String(decoding: bytes[1..<end], as: UTF8.self))'")
    }
    let colons = bytes.count { $0 == UInt8(ascii: ":") }
    if colons == 1, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      throw WrittenValueError(
        text, "has a port, which is not part of the host",
        hint: colon == 0
          ? "use a host such as 'example.com'"
          : "use '\(String(decoding: bytes[..<colon], as: UTF8.self))'")
    }
    guard bytes != [UInt8(ascii: ".")] else {
      throw WrittenValueError(
        text, "is not a host", hint: "use a host, or '.example.com' for a host and its subdomains")
    }
    return HostPattern(host)
  }

  /// Parses a partition; rejects the empty string, which names no partition.
  public static func partition(_ text: String) throws(WrittenValueError) -> ByteString {
    guard !text.isEmpty else {
      throw WrittenValueError(
        text, "is not a partition", hint: "use a site such as 'https://example.com'")
    }
    return ByteString(text)
  }

  /// Parses a method; rejects text that is not a token (RFC 9110 §9.1).
  public static func method(_ text: String) throws(WrittenValueError) -> ByteString {
    guard text.utf8.isToken else {
      throw WrittenValueError(
        text, "is not a method", hint: "use one method such as 'GET'; repeat the option for several"
      )
    }
    return ByteString(text)
  }

  /// Parses a URL prefix; rejects text without a scheme, which begins no URL.
  public static func prefix(_ text: String) throws(WrittenValueError) -> URLPrefix {
    // `purge --prefix example.com` would match nothing and exit with status 0, so a scheduled
    // clean-up would never clean up anything.
    guard mayBeginURL(text) else {
      throw WrittenValueError(
        text, "has no scheme, so no URL starts with it",
        hint:
          "use 'https://\(String(text.unicodeScalars.drop { $0 == "/" }))', or 'host' or 'glob'"
      )
    }
    return URLPrefix(ByteString(text))
  }

  /// Whether a URL can begin with a text: whether the part before `:`, or the whole text, can be a scheme (RFC 3986
  /// §3.1).
  static func mayBeginURL(_ text: String) -> Bool {
    text.isEmpty || URLParts(text.utf8 + [UInt8(ascii: ":")]).scheme != nil
  }
}

extension Glob {
  /// Parses a pattern for whole URLs; rejects patterns without a scheme, which match no URL.
  public init(url text: String) throws(WrittenValueError) {
    try self.init(written: text)
    let beginning = text.unicodeScalars.prefix { !"*?[\\".unicodeScalars.contains($0) }
    guard WrittenValue.mayBeginURL(String(beginning)) else {
      throw WrittenValueError(
        text, "has no scheme, so it matches no whole URL",
        hint: "use '*\(text)', or start with 'https://'")
    }
  }
}

extension SelectionCriteria {
  /// Criteria that no entry can meet at once.
  public struct Contradiction: Error, Hashable, Sendable {
    /// The contradicting criteria, named like their options: a sentence.
    public let message: String
    /// What to write instead: a clause.
    public let hint: String
  }

  /// The contradiction in the criteria, if there is one; compares only ages with ages, and times with times.
  public var contradiction: Contradiction? {
    // Criteria that nothing can meet are a mistake. As an empty result, a script would repeat it
    // for years without anyone noticing.
    // Ages and times are only compared with their own kind here: whether both can be true depends
    // on when the command runs.
    if let olderThan, let newerThan, olderThan >= newerThan {
      return Contradiction(
        message:
          "no entry can be both older than 'older-than' and newer than 'newer-than'",
        hint: "to select a range of ages, give 'older-than' the smaller age")
    }
    if let before = storedBefore?.time, let after = storedAfter?.time, before <= after {
      return Contradiction(
        message: "no entry can be stored both before 'stored-before' and after 'stored-after'",
        hint: "to select a range of times, give 'stored-after' the earlier time")
    }
    // Both bounds are exclusive, and sizes are whole numbers.
    if let larger = criteria.largerThan, let smaller = criteria.smallerThan, larger >= smaller - 1 {
      return Contradiction(
        message: "no body can be both larger than 'larger-than' and smaller than 'smaller-than'",
        hint: "to select a range of sizes, give 'larger-than' the smaller size")
    }
    if criteria.smallerThan == 0 {
      return Contradiction(
        message: "no body is smaller than 0 bytes", hint: "use '1' to select empty bodies")
    }
    let isOfMissingBodies = criteria.bodyLocations == [.missing]
    if isOfMissingBodies, criteria.largerThan != nil || criteria.smallerThan != nil {
      return Contradiction(
        message: "a missing body has no size", hint: "remove either the size or 'body'")
    }
    if isOfMissingBodies, criteria.isPartial {
      return Contradiction(
        message: "a missing body cannot be partial", hint: "remove either 'partial' or 'body'")
    }
    if criteria.expiresWithin != nil, !criteria.freshness.isEmpty,
      !criteria.freshness.contains(.fresh)
    {
      return Contradiction(
        message: "'expires-within' selects only fresh entries",
        hint: "remove 'expires-within', or select 'fresh'")
    }
    return nil
  }
}
