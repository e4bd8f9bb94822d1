import HTTPCaching

/// Decodes the texts in a payload. Each follows its length in four bytes, so no text can inject another.
public struct Payload {
  private var rest: ArraySlice<UInt8>

  /// Creates a decoder of the texts in a payload.
  public init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  /// Removes and returns the next text; `nil` at the end, or if the payload is shorter than announced.
  public mutating func next() -> [UInt8]? {
    guard rest.count >= 4 else { return nil }
    let length = Int(uint32(rest.prefix(4)))
    guard length <= rest.count - 4 else { return nil }
    let text = rest.dropFirst(4).prefix(length)
    rest = rest.dropFirst(4 + length)
    return Array(text)
  }

  /// Removes and returns the next text as a decimal number.
  public mutating func nextNumber() -> Int64? {
    next().flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  /// Removes the remaining texts and returns them as header fields; `nil` if they are not pairs.
  mutating func fields() -> FieldSection? {
    var lines: [FieldLine] = []
    while !rest.isEmpty {
      guard let name = next(), let value = next() else { return nil }
      lines.append(FieldLine(name: name, value: value))
    }
    return FieldSection(lines)
  }

  /// Returns the encoded texts.
  public static func bytes(_ texts: [[UInt8]]) -> [UInt8] {
    // A text that is too long is refused with its frame, so the clamped length is never sent.
    texts.flatMap { bigEndian(UInt32(clamping: $0.count)) + $0 }
  }
}

extension FetchRequest {
  /// The encoded request.
  public var payload: [UInt8] {
    Payload.bytes(
      [
        method, url, digits(Int64(timeoutMilliseconds)), digits(bodyLimit ?? -1),
        digits(redirects.rawValue),
      ] + texts(fields))
  }

  /// Decodes a payload; `nil` if it is not a request.
  public init?(payload: [UInt8]) {
    var payload = Payload(payload)
    guard let method = payload.next(), let url = payload.next(),
      // Out of range is an error and not clamped: a peer of the same version never sends such a
      // number.
      let timeout = payload.nextNumber().flatMap({ UInt32(exactly: $0) }),
      let limit = payload.nextNumber(), limit >= -1,
      let redirects = payload.nextNumber().flatMap({ Redirects(rawValue: $0) }),
      let fields = payload.fields()
    else { return nil }
    self.init(
      method: method, url: url, fields: fields, timeoutMilliseconds: timeout,
      bodyLimit: limit < 0 ? nil : limit, redirects: redirects)
  }
}

extension FetchHead {
  /// The encoded head.
  public var payload: [UInt8] { Payload.bytes([digits(status), url] + texts(fields)) }

  /// Decodes a payload; `nil` if it is not a head, or its status is invalid.
  public init?(payload: [UInt8]) {
    var payload = Payload(payload)
    // A status line has three digits (RFC 9112 §4).
    guard let status = payload.nextNumber(), (100...999).contains(status),
      let url = payload.next(), let fields = payload.fields()
    else { return nil }
    self.init(status: status, url: url, fields: fields)
  }
}

extension FetchFailure {
  /// The encoded failure.
  public var payload: [UInt8] { Payload.bytes([Array(kind.rawValue.utf8), Array(reason.utf8)]) }

  /// Decodes a payload; `nil` if it is not a failure.
  public init?(payload: [UInt8]) {
    var payload = Payload(payload)
    guard let kind = payload.next(), let reason = payload.next(),
      let kind = Kind(rawValue: String(decoding: kind, as: UTF8.self))
    else { return nil }
    self.init(kind, String(decoding: reason, as: UTF8.self))
  }
}

private func digits(_ number: Int64) -> [UInt8] { Array(String(number).utf8) }

private func texts(_ fields: FieldSection) -> [[UInt8]] {
  fields.lines.flatMap { [$0.name, $0.value] }
}
