public import Bytes

/// An encoding of text that can be turned into UTF-8.
public enum TextEncoding: Hashable, Sendable {
  case utf8
  /// Windows-1252, which browsers also use for ISO 8859-1 and ASCII.
  case windows1252
  case utf16(isBigEndian: Bool)
  case utf32(isBigEndian: Bool)

  /// The most bytes that ``init(ofTextBeginningWith:)`` needs.
  public static let longestMark = 4

  /// Finds the encoding with a name, as in the parameter `charset` of a media type; `nil` if it is not known.
  public init?(named name: ByteString) {
    switch name.asciiLowercased.string ?? "" {
    case "utf-8", "utf8", "unicode-1-1-utf-8": self = .utf8
    // The Encoding Standard (WHATWG) gives all of these names to one encoding.
    case "iso-8859-1", "iso8859-1", "iso_8859-1", "iso88591", "latin1", "latin-1", "l1", "us-ascii",
      "ascii",
      "windows-1252", "cp1252", "x-cp1252", "cp819", "ibm819":
      self = .windows1252
    case "utf-16", "utf-16le", "ucs-2", "iso-10646-ucs-2", "unicode", "csunicode":
      self = .utf16(isBigEndian: false)
    case "utf-16be", "unicodefffe": self = .utf16(isBigEndian: true)
    case "utf-32", "utf-32le": self = .utf32(isBigEndian: false)
    case "utf-32be": self = .utf32(isBigEndian: true)
    default: return nil
    }
  }

  /// Finds the encoding of a text by its byte order mark; `nil` if it has none.
  public init?(ofTextBeginningWith start: ArraySlice<UInt8>) {
    if start.starts(with: [0xEF, 0xBB, 0xBF]) {
      self = .utf8
    } else if start.starts(with: [0xFF, 0xFE, 0, 0]) {
      self = .utf32(isBigEndian: false)
    } else if start.starts(with: [0, 0, 0xFE, 0xFF]) {
      self = .utf32(isBigEndian: true)
    } else if start.starts(with: [0xFF, 0xFE]) {
      self = .utf16(isBigEndian: false)
    } else if start.starts(with: [0xFE, 0xFF]) {
      self = .utf16(isBigEndian: true)
    } else {
      return nil
    }
  }
}

/// A conversion of text to UTF-8 that takes the text in pieces.
///
/// The byte order mark is left out, and what is not valid in the encoding becomes U+FFFD. UTF-8 is passed on as it is,
/// but for its mark.
public struct TextDecoder: Sendable {
  private let encoding: TextEncoding
  /// The bytes of a unit that is not complete.
  private var rest: [UInt8] = []
  /// The first half of a surrogate pair, which waits for the second.
  private var highSurrogate: UInt32?
  private var isAtStart = true

  /// The byte order mark of UTF-8.
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The characters of the bytes from 0x80 to 0x9F in Windows-1252; 0 for bytes that have none there.
  private static let windows1252: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152,
    0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A, 0x0153, 0, 0x017E, 0x0178,
  ]

  /// Creates a decoder.
  public init(_ encoding: TextEncoding) { self.encoding = encoding }

  /// Returns the text of the next piece if it is a part of the piece, which spares a copy; otherwise nothing happens.
  public mutating func textInPlace(_ piece: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard encoding == .utf8 else { return nil }
    guard isAtStart else { return piece }
    guard rest.isEmpty, piece.count >= Self.mark.count else { return nil }
    isAtStart = false
    return piece.starts(with: Self.mark) ? piece.dropFirst(Self.mark.count) : piece
  }

  /// Appends the text of the next piece to `output`.
  public mutating func decode(_ piece: ArraySlice<UInt8>, into output: inout [UInt8]) {
    switch encoding {
    case .utf8:
      guard isAtStart else { return output.append(contentsOf: piece) }
      rest += piece
      guard rest.count >= Self.mark.count else { return }
      endStart(into: &output)
    case .windows1252:
      for byte in piece {
        let scalar: UInt32 =
          (0x80..<0xA0).contains(byte) ? Self.windows1252[Int(byte) - 0x80] : UInt32(byte)
        // The Encoding Standard gives undefined bytes the control character of the same number.
        append(scalar == 0 && byte != 0 ? UInt32(byte) : scalar, to: &output)
      }
    case .utf16(let isBigEndian):
      forEachUnit(of: 2, in: piece, isBigEndian) { decoder, unit in
        decoder.append(utf16: unit, to: &output)
      }
    case .utf32(let isBigEndian):
      forEachUnit(of: 4, in: piece, isBigEndian) { decoder, unit in
        decoder.append(unmarked: unit, to: &output)
      }
    }
  }

  /// Appends what is left at the end of the text.
  public mutating func finish(into output: inout [UInt8]) {
    if encoding == .utf8, isAtStart { return endStart(into: &output) }
    if highSurrogate != nil || !rest.isEmpty { append(0xFFFD, to: &output) }
    (highSurrogate, rest) = (nil, [])
  }

  private mutating func endStart(into output: inout [UInt8]) {
    isAtStart = false
    output += rest.starts(with: Self.mark) ? rest.dropFirst(Self.mark.count) : rest[...]
    rest = []
  }

  private mutating func forEachUnit(
    of size: Int, in piece: ArraySlice<UInt8>, _ isBigEndian: Bool,
    _ body: (inout TextDecoder, UInt32) -> Void
  ) {
    let bytes = rest.isEmpty ? piece : rest[...] + piece
    var place = bytes.startIndex
    while place + size <= bytes.endIndex {
      var unit: UInt32 = 0
      for index in 0..<size {
        unit = unit << 8 | UInt32(bytes[isBigEndian ? place + index : place + size - 1 - index])
      }
      body(&self, unit)
      place += size
    }
    rest = Array(bytes[place...])
  }

  private mutating func append(utf16 unit: UInt32, to output: inout [UInt8]) {
    let isLow = (0xDC00...0xDFFF).contains(unit)
    if let high = highSurrogate {
      highSurrogate = nil
      if isLow {
        return append(unmarked: 0x10000 + (high - 0xD800) << 10 + (unit - 0xDC00), to: &output)
      }
      append(0xFFFD, to: &output)
    }
    if (0xD800...0xDBFF).contains(unit) {
      highSurrogate = unit
    } else {
      append(unmarked: unit, to: &output)
    }
  }

  private mutating func append(unmarked scalar: UInt32, to output: inout [UInt8]) {
    let isMark = isAtStart && scalar == 0xFEFF
    isAtStart = false
    if !isMark { append(scalar, to: &output) }
  }

  private func append(_ value: UInt32, to output: inout [UInt8]) {
    if value < 0x80 { return output.append(UInt8(value)) }
    output.append(
      contentsOf: UTF8.encode(Unicode.Scalar(value) ?? "\u{FFFD}") ?? .encodedReplacementCharacter)
  }
}
