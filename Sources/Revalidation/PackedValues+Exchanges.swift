import Administration
import Bytes
import Fetching
import HTTPCaching

// Requests and responses as bytes, to keep them in a temporary database.
extension PackedValues {
  /// Appends a header section.
  mutating func append(fields: FieldSection) {
    append(all: fields.lines) {
      $0.append($1.name)
      $0.append($1.value)
    }
  }

  /// Appends an exchange, without what follows from its other parts.
  mutating func append(exchange: Exchange) {
    append(exchange.request) {
      $0.append($1.method)
      $0.append($1.targetURI) { $0.append($1) }
      $0.append(fields: $1.fields)
    }
    append(exchange.status) { $0.append($1) }
    append(fields: exchange.fields)
    append(exchange.requestTime)
    append(exchange.responseTime)
    append(exchange.varyRecord) { $0.append(fields: $1) }
    append(exchange.bodyBytes) { $0.append($1) }
  }

  /// Appends the location of a body in the spool.
  mutating func append(pieces: [BodySpool.Piece]) {
    append(all: pieces) {
      $0.append($1.lowerBound)
      $0.append($1.upperBound)
    }
  }

  /// Appends the validators that are sent.
  mutating func append(sent: Set<ValidatorComparison.Decider>) {
    for decider in ValidatorComparison.Decider.allCases { append(sent.contains(decider)) }
  }

  /// Appends the response of an origin server.
  mutating func append(response: ValidationResponse) {
    append(response.head.payload)
    append(response.requestTime)
    append(response.responseTime)
    append(pieces: response.body)
  }
}

extension PackedReader {
  /// Reads a header section.
  mutating func fields() throws(Failure) -> FieldSection {
    FieldSection(
      try all { reader throws(Failure) in
        FieldLine(name: try reader.data(), value: try reader.data())
      })
  }

  /// Reads an exchange.
  mutating func exchange() throws(Failure) -> Exchange {
    let request = try optional { reader throws(Failure) in
      Request(
        method: try reader.data(), targetURI: try reader.optionalText()?.bytes,
        fields: try reader.fields())
    }
    return Exchange(
      request: request, status: try optionalNumber(), fields: try fields(),
      requestTime: try number(), responseTime: try number(),
      varyRecord: try optional { reader throws(Failure) in try reader.fields() },
      bodyBytes: try optionalNumber())
  }

  /// Reads the location of a body in the spool.
  mutating func pieces() throws(Failure) -> [BodySpool.Piece] {
    try all { reader throws(Failure) in
      let (start, end) = (try reader.number(), try reader.number())
      guard start <= end else { throw Failure() }
      return start..<end
    }
  }

  /// Reads the validators that are sent.
  mutating func sent() throws(Failure) -> Set<ValidatorComparison.Decider> {
    var sent: Set<ValidatorComparison.Decider> = []
    for decider in ValidatorComparison.Decider.allCases where try flag() { sent.insert(decider) }
    return sent
  }

  /// Reads the response of an origin server.
  mutating func response() throws(Failure) -> ValidationResponse {
    guard let head = FetchHead(payload: try data()) else { throw Failure() }
    return ValidationResponse(
      head: head, requestTime: try number(), responseTime: try number(), body: try pieces())
  }
}
