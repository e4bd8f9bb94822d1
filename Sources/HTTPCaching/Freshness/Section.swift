/// A section of a specification that decides a question.
public struct Section: Hashable, Sendable, CustomStringConvertible {
  /// The number of the RFC, for example 9111.
  public let rfc: Int

  /// The number of the section, for example `4.2.1`.
  public let number: String

  /// Creates a reference to a section.
  public init(rfc: Int, _ number: String) {
    self.rfc = rfc
    self.number = number
  }

  /// HTTP Semantics.
  static func semantics(_ number: String) -> Section { Section(rfc: 9110, number) }

  /// HTTP Caching.
  static func caching(_ number: String) -> Section { Section(rfc: 9111, number) }

  /// HTTP Cache-Control Extensions for Stale Content.
  static func staleContent(_ number: String) -> Section { Section(rfc: 5861, number) }

  /// HTTP Immutable Responses.
  static func immutable(_ number: String) -> Section { Section(rfc: 8246, number) }

  /// For example `RFC 9111 §4.2.1`.
  public var description: String { "RFC \(rfc) §\(number)" }
}
