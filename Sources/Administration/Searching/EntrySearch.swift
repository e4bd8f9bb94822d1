public import Bytes
public import Matching
public import ResponseArchives
public import ResponseStorage

/// A search for a pattern in the parts of entries.
public struct EntrySearch: Sendable {
  /// The pattern.
  public var pattern: TextPattern
  /// The parts to search.
  public var parts: Set<SearchedPart> = Set(SearchedPart.allCases)
  /// Whether to search bodies that are no text.
  public var searchesBinary = false
  /// The number of lines of a body to pass on before and after each match.
  public var (before, after) = (0, 0)
  /// Whether to number the lines.
  public var numbersLines = false
  /// Whether to pass on the text of lines and all their matches, and not only that there is one.
  public var passesText = true
  /// The maximum number of lines with a match for each entry; `nil` for all.
  public var mostLines: Int64?

  /// The number of bytes at the beginning of a body in which a NUL means that it is no text.
  private static let binaryStart = 1 << 16

  /// Creates a search.
  public init(_ pattern: TextPattern) { self.pattern = pattern }

  /// A line with a match, or a line of context.
  public struct Hit: Hashable, Sendable {
    /// Where the line is.
    public var place: SearchedPlace
    /// The name of the header field, if it is one.
    public var fieldName: ByteString?
    /// The line; for a header field `name: value`.
    public var line: MatchedLine

    /// Creates a hit.
    public init(place: SearchedPlace, fieldName: ByteString? = nil, line: MatchedLine) {
      (self.place, self.fieldName, self.line) = (place, fieldName, line)
    }
  }

  /// What the search of an entry found.
  public struct Outcome: Hashable, Sendable {
    /// The number of lines with a match.
    public var lines: Int64 = 0
    /// The number of matches.
    public var matches: Int64 = 0
    /// The number of bytes searched.
    public var bytes: ByteCount = 0
    /// Why a part was not searched, or not to its end.
    public var finding: Finding?

    /// Creates an outcome without a match.
    public init() {}
  }

  /// Why a part of an entry was not searched, or not to its end.
  public enum Finding: Hashable, Sendable {
    /// The body is no text.
    case binary
    /// The body is not in the cache.
    case missing
    /// The body has this content coding, which cannot be decoded.
    case coded(String)
    /// The body cannot be decoded.
    case undecodable(BodyDecodingError)
    /// A match exceeded a limit.
    case overrun(SearchedPlace, RegularExpression.Overrun)
  }

  /// What to decode of each entry.
  public var projection: Projection {
    var result: Projection = [.url, .key]
    if parts.contains(.request) { result.formUnion([.requestHeaders, .requestDetails]) }
    if parts.contains(.response) { result.formUnion(.responseHeaders) }
    if parts.contains(.body) { result.formUnion(BodyText.projection) }
    return result
  }

  /// Searches an entry.
  ///
  /// - Parameter found: Takes each line, in order.
  /// - Throws: The error of a store that cannot be read, or any error of `found`.
  public func search(
    _ response: borrowing StoredResponse, _ body: ScannedBody, _ found: (Hit) throws -> Void
  ) throws -> Outcome {
    var run = Run(search: self)
    if parts.contains(.url), let url = response.url ?? response.key {
      try run.search(url.bytes, .url, nil, found)
    }
    if parts.contains(.request) {
      try run.search(response.request.headers, .request, found)
      if let body = response.request.body { try run.search(body, .requestBody, nil, found) }
    }
    if parts.contains(.response) { try run.search(response.responseHeaders, .response, found) }
    if parts.contains(.body), !run.isFull {
      try run.search(
        body, BodyText(of: response, refusingUnknownCodings: !searchesBinary), found)
    }
    return run.outcome
  }

  /// The search of one entry.
  private struct Run {
    let search: EntrySearch
    var outcome = Outcome()

    private struct Stop: Error {}

    var isFull: Bool { search.mostLines.map { outcome.lines >= $0 } ?? false }

    mutating func search(
      _ headers: HeaderFields?, _ place: SearchedPlace, _ found: (Hit) throws -> Void
    ) throws {
      for (index, field) in (headers?.fields ?? []).enumerated() {
        try search(
          field.name.bytes + Array(": ".utf8) + field.value.bytes, place, field.name,
          number: Int64(index + 1), found)
      }
    }

    mutating func search(
      _ text: [UInt8], _ place: SearchedPlace, _ fieldName: ByteString?, number: Int64? = nil,
      _ found: (Hit) throws -> Void
    ) throws {
      guard !isFull else { return }
      outcome.bytes += ByteCount(text.count)
      var lines = LineSearch(
        search.pattern, numbersLines: search.numbersLines, passesText: search.passesText)
      try bounded(place) { run in
        try lines.append(text[...]) { try run.take($0, place, fieldName, number, found) }
        try lines.finish { try run.take($0, place, fieldName, number, found) }
      }
    }

    mutating func search(
      _ body: ScannedBody, _ text: BodyText, _ found: (Hit) throws -> Void
    ) throws {
      var lines = LineSearch(
        search.pattern, before: search.before, after: search.after,
        numbersLines: search.numbersLines, passesText: search.passesText)
      var isThere = true
      var start: Int64 = 0
      try bounded(.body) { run in
        isThere = try body.read { reader in
          try text.forEachPiece(of: &reader) { piece in
            if !run.search.searchesBinary, start < binaryStart {
              if piece.prefix(binaryStart - Int(start)).containsNUL {
                run.outcome.finding = .binary
                throw Stop()
              }
              start += Int64(piece.count)
            }
            run.outcome.bytes += ByteCount(piece.count)
            try lines.append(piece) { try run.take($0, .body, nil, nil, found) }
            if lines.isDone { throw Stop() }
          }
        }
        try lines.finish { try run.take($0, .body, nil, nil, found) }
      }
      if !isThere { outcome.finding = .missing }
    }

    /// Runs the search of one part, and notes why it did not reach the end.
    private mutating func bounded(
      _ place: SearchedPlace, _ body: (inout Run) throws -> Void
    ) throws {
      do { try body(&self) } catch is Stop {} catch let error as UnknownCoding {
        outcome.finding = .coded(error.coding)
      } catch let error as BodyDecodingError {
        outcome.finding = .undecodable(error)
      } catch let error as RegularExpression.Overrun {
        outcome.finding = .overrun(place, error)
      }
    }

    private mutating func take(
      _ line: MatchedLine, _ place: SearchedPlace, _ fieldName: ByteString?, _ number: Int64?,
      _ found: (Hit) throws -> Void
    ) throws -> LineSearch.Step {
      var line = line
      if search.numbersLines, let number { line.number = number }
      outcome.matches += Int64(line.matches.count)
      if !line.matches.isEmpty, !line.continuesLine { outcome.lines += 1 }
      try found(Hit(place: place, fieldName: fieldName, line: line))
      return isFull ? .stop : .next
    }
  }
}

/// A part of an entry that can be searched.
public enum SearchedPart: String, Hashable, Sendable, CaseIterable {
  case url
  /// The header fields and the body of the request.
  case request
  /// The header fields of the response.
  case response
  /// The body of the response.
  case body
}

/// A place in an entry in which text was found.
public enum SearchedPlace: String, Hashable, Sendable, CaseIterable {
  case url
  /// A header field of the request.
  case request
  case requestBody = "request-body"
  /// A header field of the response.
  case response
  case body
}
