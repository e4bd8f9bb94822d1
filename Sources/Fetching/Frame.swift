/// One message between the process that asks and the process that fetches.
///
/// On the pipe it is a letter, the number of the request and the number of bytes that follow, both of four
/// bytes with the highest first, and these bytes.
public struct Frame: Hashable, Sendable {
  /// What a frame says.
  public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// Asks: a ``FetchRequest``.
    case request = 0x51  // Q
    /// Asks no longer: nothing follows.
    case cancel = 0x58  // X
    /// Begins an answer: a ``FetchHead``.
    case head = 0x48  // H
    /// Goes on with an answer: bytes of the body.
    case body = 0x42  // B
    /// Ends an answer that is whole, as far as it was wanted.
    case end = 0x45  // E
    /// Ends what is no answer, or no whole one: a ``FetchFailure``.
    case failure = 0x46  // F
  }

  /// The number of bytes before the payload.
  public static let headerLength = 9

  /// The most bytes of a payload; a peer that announces more has broken the protocol.
  public static let largestPayload = 1 << 20

  /// What it says.
  public var kind: Kind

  /// Which request it is about.
  public var number: UInt32

  /// What follows.
  public var payload: [UInt8]

  /// Creates a frame; `nil` if the payload is too long.
  public init?(_ kind: Kind, _ number: UInt32, _ payload: [UInt8] = []) {
    guard payload.count <= Self.largestPayload else { return nil }
    self.kind = kind
    self.number = number
    self.payload = payload
  }

  /// The frame as it goes over the pipe.
  public var bytes: [UInt8] {
    [kind.rawValue] + bigEndian(number) + bigEndian(UInt32(payload.count)) + payload
  }
}

/// Takes frames out of bytes as they come.
public struct FrameReader: Sendable {
  /// What is no protocol.
  public struct Violation: Error, Hashable, Sendable {}

  private var buffer: [UInt8] = []
  private var start = 0

  /// Creates a reader that has seen nothing.
  public init() {}

  /// Takes bytes in.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer += bytes
  }

  /// Whether part of a frame is there, so that the end must not come now.
  public var isInsideFrame: Bool { buffer.count > start }

  /// Takes the next frame out; `nil` if not all of it is there.
  ///
  /// - Throws: ``Violation`` if what is there begins no frame, or one that is too long.
  public mutating func next() throws(Violation) -> Frame? {
    guard buffer.count - start >= Frame.headerLength else { return nil }
    guard let kind = Frame.Kind(rawValue: buffer[start]) else { throw Violation() }
    let number = uint32(buffer[(start + 1)..<(start + 5)])
    let length = Int(uint32(buffer[(start + 5)..<(start + Frame.headerLength)]))
    guard length <= Frame.largestPayload else { throw Violation() }
    let end = start + Frame.headerLength + length
    guard buffer.count >= end else { return nil }
    defer { start = end }
    return Frame(kind, number, Array(buffer[(start + Frame.headerLength)..<end]))
  }
}

/// A number as four bytes, the highest first.
func bigEndian(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
}

/// The number that four bytes are, the highest first.
func uint32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
  bytes.reduce(0) { $0 << 8 | UInt32($1) }
}
