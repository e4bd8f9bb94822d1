import HTTPCaching

/// A message between `urlcache-admin` and `urlcache-admin-fetch`, or a worker of `urlcache-admin`.
///
/// On the pipe it is a letter, the number of the request and the length of the payload, both as four bytes in
/// big-endian order, and the payload.
public struct Frame: Hashable, Sendable {
  /// The kinds of frames.
  public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// Starts a request: a ``FetchRequest``.
    case request = 0x51  // Q
    /// Cancels a request: no payload.
    case cancel = 0x58  // X
    /// Starts a response: a ``FetchHead``.
    case head = 0x48  // H
    /// Continues a response: bytes of the body.
    case body = 0x42  // B
    /// Ends a response whose requested part is complete.
    case end = 0x45  // E
    /// Ends a request that failed: a ``FetchFailure``.
    case failure = 0x46  // F
    /// What a worker shows: text for standard output.
    case output = 0x54  // T
    /// What a worker says: text for standard error.
    case message = 0x4D  // M
    /// A worker asks for something: a ``Payload``. It is answered by ``body`` and ``end``.
    case question = 0x41  // A
    /// A worker has done what it was started for.
    case done = 0x44  // D
  }

  /// The size of the header before the payload, in bytes.
  public static let headerLength = 9

  /// The maximum size of a payload, in bytes. A peer that announces more violates the protocol.
  // Bodies are sent in pieces of 64 KiB. Only a head or a request with many header fields comes
  // near the limit, and both programs hold a frame in memory as a whole.
  public static let largestPayload = 1 << 20

  /// The kind of frame.
  public var kind: Kind

  /// The number of the request.
  public var number: UInt32

  /// The payload.
  public var payload: [UInt8]

  /// Creates a frame; `nil` if the payload is too long.
  public init?(_ kind: Kind, _ number: UInt32, _ payload: [UInt8] = []) {
    guard payload.count <= Self.largestPayload else { return nil }
    self.kind = kind
    self.number = number
    self.payload = payload
  }

  /// Encodes bytes of any length as frames, of which only the last one is shorter than the longest.
  public static func bytes(_ kind: Kind, _ number: UInt32, pieces: [UInt8]) -> [UInt8] {
    stride(from: 0, through: pieces.count, by: largestPayload).flatMap { start in
      let piece = Array(pieces[start..<min(start + largestPayload, pieces.count)])
      return Frame(kind, number, piece)?.bytes ?? []
    }
  }

  /// The encoded frame.
  public var bytes: [UInt8] {
    [kind.rawValue] + bigEndian(number) + bigEndian(UInt32(payload.count)) + payload
  }
}

/// Decodes frames from a stream of bytes.
public struct FrameReader: Sendable {
  /// An error for bytes that violate the protocol.
  public struct Violation: Error, Hashable, Sendable {}

  private var buffer: [UInt8] = []
  private var start = 0

  /// Creates an empty reader.
  public init() {}

  /// Appends bytes.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0 {
      // Bytes of earlier frames are removed once for each read, and not for each frame, which would
      // move the rest each time.
      buffer.removeFirst(start)
      start = 0
    }
    buffer += bytes
  }

  /// Whether an incomplete frame is buffered, so that the stream must not end now.
  public var isInsideFrame: Bool { buffer.count > start }

  /// Removes and returns the next frame; `nil` if it is not complete yet.
  ///
  /// - Throws: ``Violation`` if the bytes do not start a frame, or the frame is too large.
  public mutating func next() throws(Violation) -> Frame? {
    guard buffer.count - start >= Frame.headerLength else { return nil }
    // There is no way to find the next frame after a wrong byte, so an unknown kind ends the
    // stream.
    guard let kind = Frame.Kind(rawValue: buffer[start]) else { throw Violation() }
    let number = uint32(buffer[(start + 1)..<(start + 5)])
    let length = Int(uint32(buffer[(start + 5)..<(start + Frame.headerLength)]))
    // Checked before any of the payload is awaited: a length of 4 GiB would otherwise be collected
    // in memory.
    guard length <= Frame.largestPayload else { throw Violation() }
    let end = start + Frame.headerLength + length
    guard buffer.count >= end else { return nil }
    defer { start = end }
    return Frame(kind, number, Array(buffer[(start + Frame.headerLength)..<end]))
  }
}

/// Returns a number as four bytes in big-endian order.
func bigEndian(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
}

/// Returns the number that four bytes in big-endian order represent.
func uint32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
  bytes.reduce(0) { $0 << 8 | UInt32($1) }
}

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
