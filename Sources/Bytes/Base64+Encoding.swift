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
      output.append(padding)
      output.append(padding)
    case 2:
      let group = Int(bytes[index]) << 10 | Int(bytes[index + 1]) << 2
      output.append(alphabet[group >> 12])
      output.append(alphabet[group >> 6 & 63])
      output.append(alphabet[group & 63])
      output.append(padding)
    default: break
    }
  }

  private static let padding = UInt8(ascii: "=")
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
