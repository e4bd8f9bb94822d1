/// The header fields of a response that its freshness and its validators depend on, each read once
/// (RFC 9111 §4.2, RFC 9110 §8.8).
///
/// It is all that is needed to judge a response, and takes no memory of its own for a value that is valid.
public struct FreshnessFields: Hashable, Sendable {
  /// When the response was received, in seconds since 1970 (RFC 9111 §4.2.3).
  public let responseTime: Int64

  /// The first `max-age` (RFC 9111 §5.2.2.1), or `nil` if there is none.
  public private(set) var maxAge: DeltaSeconds?

  /// Whether there is `public` (RFC 9111 §5.2.2.9).
  public private(set) var isPublic = false

  /// What `Age` says (RFC 9111 §5.1).
  public private(set) var age = AgeField.absent

  /// What `Date` says (RFC 9110 §6.6.1).
  public private(set) var date = DateField.absent

  /// What `Expires` says (RFC 9111 §5.3).
  public private(set) var expires = DateField.absent

  /// What `Last-Modified` says (RFC 9110 §8.8.2).
  public private(set) var lastModified = DateField.absent

  private enum Tag: Hashable, Sendable {
    case absent, empty, weak, strong
  }

  private var tag = Tag.absent

  /// Starts without fields.
  ///
  /// - Parameter responseTime: When the response was received, in seconds since 1970.
  public init(receivedAt responseTime: Int64) {
    self.responseTime = responseTime
  }

  /// Reads the fields of a header section.
  ///
  /// - Parameter responseTime: When the response was received, in seconds since 1970.
  public init(_ fields: FieldSection, receivedAt responseTime: Int64) {
    self.init(receivedAt: responseTime)
    // A loop over the array would hold on to each line.
    let lines = fields.lines.span
    for index in lines.indices {
      if let name = lines[index].known { read(lines[index].value.span, of: name) }
    }
  }

  /// Reads a value that may be that of several lines of a field, joined by `, `.
  ///
  /// - Returns: Whether it was read: not if it may mean something else than the lines did, which have to be read
  ///   apart then (RFC 9110 §5.3).
  public mutating func read(joined value: Span<UInt8>, of name: FieldName) -> Bool {
    guard let name = name.known else { return true }
    if JoinedLines(of: name).mayChange(value) { return false }
    read(value, of: name)
    return true
  }

  /// Reads the next line of a field, of most of which the first counts (RFC 9111 §4.2.1).
  private mutating func read(_ value: Span<UInt8>, of name: KnownFieldName) {
    switch name {
    case .cacheControl: readDirectives(value)
    case .age: if age == .absent { age = AgeField(value.extracting(value.trimmedRange)) }
    case .date: readDate(value, into: &date)
    case .expires: readDate(value, into: &expires)
    case .lastModified: readDate(value, into: &lastModified)
    case .entityTag: if tag == .absent { tag = Self.tag(value.extracting(value.trimmedRange)) }
    default: break
    }
  }

  private mutating func readDirectives(_ line: Span<UInt8>) {
    CacheControl.forEachDirective(in: line) { name, argument in
      switch name {
      case .maxAge: if maxAge == nil { maxAge = CacheDirective.seconds(argument) }
      case .public: isPublic = true
      default: break
      }
    }
  }

  private func readDate(_ value: Span<UInt8>, into field: inout DateField) {
    guard field == .absent else { return }
    // A year of two digits is told from when the date was received, so that it does not depend on
    // when it is looked at.
    field = DateField(value.extracting(value.trimmedRange), now: responseTime)
  }

  private static func tag(_ value: Span<UInt8>) -> Tag {
    if value.isEmpty { return .empty }
    let form = EntityTag.Form(of: value)
    return form.isWellFormed && !form.isWeak ? .strong : .weak
  }

  /// When the response was generated: its `Date`, or when it was received, if it has no valid one
  /// (RFC 9110 §6.6.1, RFC 9111 §4.2.3).
  public var dateValue: Int64 { date.secondsSince1970 ?? responseTime }

  /// How strong the entity tag is, or `nil` if there is none (RFC 9110 §8.8.1).
  public var entityTagStrength: Validators.Strength? {
    switch tag {
    case .absent, .empty: nil
    case .weak: .weak
    case .strong: .strong
    }
  }

  /// How strong `Last-Modified` is, or `nil` if there is none that is a date (RFC 9110 §8.8.2.2).
  public var lastModifiedStrength: Validators.Strength? {
    lastModified.secondsSince1970.map { Validators.strength(ofLastModified: $0, date: date) }
  }
}
