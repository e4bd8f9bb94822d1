/// The Base64 encoding of RFC 4648 §4.
public enum Base64 {
  /// Decodes `text` and ignores white space; `nil` if it is not Base64.
  public static func decode(_ text: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var decoder = Decoder()
    guard decoder.decode(text, into: &result), decoder.finish(into: &result) else { return nil }
    return result
  }

  /// Decodes Base64, also of the alphabet for URLs (RFC 4648 §5), with or without padding; `nil` if it is neither.
  public static func decode(url text: ArraySlice<UInt8>) -> [UInt8]? {
    decode(
      text.map { byte in
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
      })
  }

  /// The entries in ``values`` of bytes that are not digits.
  private static let (blank, padding, other) = (64, 65, 255) as (UInt8, UInt8, UInt8)

  /// The value, 0 to 63, of each byte that is a digit.
  private static let values: [UInt8] = (0...255).map { (byte: UInt8) in
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    case UInt8(ascii: "="): padding
    // CFNetwork writes line breaks around the Base64 of `__hhaa__`, and other programs break long
    // lines.
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"): blank
    default: other
    }
  }

  /// Measures the bytes that text decodes to, without decoding it. The text arrives in pieces, and white space is
  /// ignored.
  public struct Measure {
    private var digits: Int64 = 0
    private var isPadded = false

    /// Creates a measure of no text.
    public init() {}

    /// Adds the next piece of the text.
    ///
    /// - Returns: `false` if the text is not Base64.
    public mutating func add(_ text: [UInt8]) -> Bool {
      let (text, values) = (text.span, Base64.values.span)
      var index = 0
      while index < text.count {
        if !isPadded, index &+ 8 <= text.count {
          let word = text.word(at: index)
          // The values of digits are below 64, and those of other bytes are not.
          var all: UInt8 = 0
          for byte in 0..<8 { all |= values[Int(word >> UInt64(8 * byte) & 0xFF)] }
          if all < 64 {
            digits += 8
            index += 8
            continue
          }
        }
        let value = values[Int(text[index])]
        index += 1
        if value == Base64.blank { continue }
        if value == Base64.padding {
          isPadded = true
          continue
        }
        // No digit may follow padding.
        guard value < 64, !isPadded else { return false }
        digits += 1
      }
      return true
    }

    /// The number of bytes; `nil` if the last group has only one digit.
    public var count: Int64? {
      let rest = digits % 4
      return rest == 1 ? nil : digits / 4 * 3 + max(0, rest - 1)
    }
  }

  /// Decodes text that arrives in pieces and ignores white space.
  public struct Decoder {
    private var bits: UInt32 = 0
    private var count = 0
    private var isPadded = false

    /// Creates a decoder.
    public init() {}

    /// Decodes the next piece of the text.
    ///
    /// - Parameter result: The array to which the bytes are appended.
    /// - Returns: `false` if the text is not Base64.
    public mutating func decode(_ text: [UInt8], into result: inout [UInt8]) -> Bool {
      var isBase64 = true
      // Reserve the whole result: appending byte by byte would check the array's buffer each time.
      result.append(addingCapacity: text.count / 4 * 3 + 3) { (output: inout OutputSpan<UInt8>) in
        isBase64 = decode(text.span, into: &output)
      }
      return isBase64
    }

    private mutating func decode(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) -> Bool
    {
      let values = Base64.values.span
      var index = 0
      while index < text.count {
        if count == 0, !isPadded, let four = Self.fourDigits(of: text, at: index, values) {
          bits = four
          index += 4
        } else {
          let value = values[Int(text[index])]
          index += 1
          guard value < 64 else {
            if value == Base64.blank { continue }
            guard value == Base64.padding else { return false }
            isPadded = true
            continue
          }
          // No digit may follow padding.
          guard !isPadded else { return false }
          bits = bits << 6 | UInt32(value)
          count = (count + 1) & 3
        }
        if count == 0 {
          output.append(UInt8(truncatingIfNeeded: bits >> 16))
          output.append(UInt8(truncatingIfNeeded: bits >> 8))
          output.append(UInt8(truncatingIfNeeded: bits))
        }
      }
      return true
    }

    /// The bits of the next four bytes if all are digits, which is nearly always so; `nil` otherwise.
    @inline(__always)
    private static func fourDigits(
      of text: Span<UInt8>, at index: Int, _ values: Span<UInt8>
    ) -> UInt32? {
      // With the length of the span known, the compiler removes the bounds checks.
      let text = text.extracting(droppingFirst: index).extracting(first: 4)
      guard text.count == 4 else { return nil }
      let (first, second) = (values[Int(text[0])], values[Int(text[1])])
      let (third, fourth) = (values[Int(text[2])], values[Int(text[3])])
      guard first | second | third | fourth < 64 else { return nil }
      return UInt32(first) << 18 | UInt32(second) << 12 | UInt32(third) << 6 | UInt32(fourth)
    }

    /// Decodes the end of the text. Missing padding is accepted.
    ///
    /// - Returns: `false` if the last group has only one digit.
    // Unused bits at the end are not checked: RFC 4648 §3.5 leaves that to the decoder, and digests
    // are compared as bytes.
    public consuming func finish(into result: inout [UInt8]) -> Bool {
      switch count {
      case 2: result.append(UInt8(truncatingIfNeeded: bits >> 4))
      case 3:
        result.append(UInt8(truncatingIfNeeded: bits >> 10))
        result.append(UInt8(truncatingIfNeeded: bits >> 2))
      case 1: return false
      default: break
      }
      return true
    }
  }
}

extension Base64 {
  /// Returns `prefix` followed by the Base64 of `bytes`, in ASCII, with padding and without line breaks.
  public static func encode(_ bytes: [UInt8], after prefix: [UInt8] = []) -> [UInt8] {
    var text = prefix
    encode(bytes, into: &text)
    return text
  }

  /// Appends the Base64 of `bytes` to `text`, in ASCII, with padding and without line breaks.
  public static func encode(_ bytes: [UInt8], into text: inout [UInt8]) {
    // Reserve the whole result: appending byte by byte would check the array's buffer each time.
    text.append(addingCapacity: (bytes.count + 2) / 3 * 4) { (output: inout OutputSpan<UInt8>) in
      encode(bytes.span, into: &output)
    }
  }

  private static func encode(_ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
    let alphabet = alphabet.span
    var index = 0
    while index + 2 < bytes.count {
      let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
      output.append(alphabet[group >> 18])
      output.append(alphabet[group >> 12 & 63])
      output.append(alphabet[group >> 6 & 63])
      output.append(alphabet[group & 63])
      index += 3
    }
    switch bytes.count - index {
    case 1:
      let group = Int(bytes[index]) << 4
      output.append(alphabet[group >> 6])
      output.append(alphabet[group & 63])
      output.append(paddingCharacter)
      output.append(paddingCharacter)
    case 2:
      let group = Int(bytes[index]) << 10 | Int(bytes[index + 1]) << 2
      output.append(alphabet[group >> 12])
      output.append(alphabet[group >> 6 & 63])
      output.append(alphabet[group & 63])
      output.append(paddingCharacter)
    default: break
    }
  }

  private static let paddingCharacter = UInt8(ascii: "=")
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

extension Base64 {
  /// Encodes bytes that arrive in pieces.
  public struct Encoder {
    /// The bytes that do not yet form a group of three.
    private var rest: [UInt8] = []

    /// Creates an encoder.
    public init() {}

    /// Encodes the next bytes.
    ///
    /// - Returns: The ASCII of all complete groups of three bytes.
    public mutating func encode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      // Encoding a piece by itself would put padding in the middle of the text.
      let all = rest + bytes
      let whole = all.count / 3 * 3
      rest = Array(all[whole...])
      return Base64.encode(Array(all[..<whole]))
    }

    /// Returns the ASCII of the remaining bytes, with padding.
    public consuming func finish() -> [UInt8] { Base64.encode(rest) }
  }
}
