import HTTPCaching

/// The texts in a payload, each after its length in four bytes: so no text can pass for the end of another.
struct Payload {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  /// Takes the next text; `nil` at the end, or if there is less than was announced.
  mutating func next() -> [UInt8]? {
    guard rest.count >= 4 else { return nil }
    let length = Int(uint32(rest.prefix(4)))
    guard length <= rest.count - 4 else { return nil }
    let text = rest.dropFirst(4).prefix(length)
    rest = rest.dropFirst(4 + length)
    return Array(text)
  }

  /// Takes a text that is a decimal number.
  mutating func nextNumber() -> Int64? {
    next().flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  /// Takes all that is left as names and values; `nil` if that is not what it is.
  mutating func fields() -> FieldSection? {
    var lines: [FieldLine] = []
    while !rest.isEmpty {
      guard let name = next(), let value = next() else { return nil }
      lines.append(FieldLine(name: name, value: value))
    }
    return FieldSection(lines)
  }

  /// Texts as a payload holds them.
  static func bytes(_ texts: [[UInt8]]) -> [UInt8] {
    texts.flatMap { bigEndian(UInt32(clamping: $0.count)) + $0 }
  }
}

extension FetchRequest {
  /// The request as a payload.
  public var payload: [UInt8] {
    Payload.bytes(
      [
        method, url, digits(Int64(timeoutMilliseconds)), digits(bodyLimit ?? -1),
        digits(followsRedirects ? 1 : 0),
      ] + texts(fields))
  }

  /// Reads a payload; `nil` if it is no request.
  public init?(payload: [UInt8]) {
    var payload = Payload(payload)
    guard let method = payload.next(), let url = payload.next(),
      let timeout = payload.nextNumber().flatMap({ UInt32(exactly: $0) }),
      let limit = payload.nextNumber(), limit >= -1, let follows = payload.nextNumber(),
      follows == 0 || follows == 1, let fields = payload.fields()
    else { return nil }
    self.init(
      method: method, url: url, fields: fields, timeoutMilliseconds: timeout,
      bodyLimit: limit < 0 ? nil : limit, followsRedirects: follows == 1)
  }
}

extension FetchHead {
  /// The head as a payload.
  public var payload: [UInt8] { Payload.bytes([digits(status), url] + texts(fields)) }

  /// Reads a payload; `nil` if it is no head, or its status is none of HTTP.
  public init?(payload: [UInt8]) {
    var payload = Payload(payload)
    guard let status = payload.nextNumber(), (100...999).contains(status),
      let url = payload.next(), let fields = payload.fields()
    else { return nil }
    self.init(status: status, url: url, fields: fields)
  }
}

extension FetchFailure {
  /// The failure as a payload.
  public var payload: [UInt8] { Payload.bytes([Array(kind.rawValue.utf8), Array(reason.utf8)]) }

  /// Reads a payload; `nil` if it is no failure.
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
