extension Base64 {
  /// Returns the ASCII of `prefix` and, after it, of the encoded `bytes`, with padding
  /// and without line breaks.
  public static func encode(_ bytes: [UInt8], after prefix: [UInt8] = []) -> [UInt8] {
    var text = prefix
    encode(bytes, into: &text)
    return text
  }

  /// Appends the ASCII of the encoded `bytes` to `text`, with padding and without line breaks.
  public static func encode(_ bytes: [UInt8], into text: inout [UInt8]) {
    // Room for all at once: an append to the array would look at its memory each time.
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
  /// Encodes bytes that come piece by piece.
  public struct Encoder {
    /// What is not yet three bytes.
    private var rest: [UInt8] = []

    /// Starts with no bytes.
    public init() {}

    /// Takes the next bytes.
    ///
    /// - Returns: As much of the ASCII as they make whole.
    public mutating func encode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      let all = rest + bytes
      let whole = all.count / 3 * 3
      rest = Array(all[whole...])
      return Base64.encode(Array(all[..<whole]))
    }

    /// The ASCII of what is left, with padding.
    public consuming func finish() -> [UInt8] { Base64.encode(rest) }
  }
}
