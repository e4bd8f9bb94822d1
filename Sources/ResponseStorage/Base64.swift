/// Base64 as RFC 4648 §4 defines it.
public enum Base64 {
  /// Decodes `text`, in which white space is skipped; `nil` if it is not base64.
  public static func decode(_ text: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3)
    var decoder = Decoder()
    guard decoder.decode(text, into: &result), decoder.finish(into: &result) else { return nil }
    return result
  }

  /// Decodes text that comes piece by piece; white space in it is skipped.
  public struct Decoder {
    private var bits: UInt32 = 0
    private var count = 0
    private var isPadded = false

    /// Starts with no text.
    public init() {}

    /// Takes the next piece of the text.
    ///
    /// - Parameter result: What the bytes are appended to.
    /// - Returns: `false` if it is not base64.
    public mutating func decode(_ text: [UInt8], into result: inout [UInt8]) -> Bool {
      for byte in text {
        let value: UInt8
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        case UInt8(ascii: "="):
          isPadded = true
          continue
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"):
          continue
        default: return false
        }
        guard !isPadded else { return false }
        bits = bits << 6 | UInt32(value)
        count = (count + 1) & 3
        if count == 0 {
          result.append(UInt8(truncatingIfNeeded: bits >> 16))
          result.append(UInt8(truncatingIfNeeded: bits >> 8))
          result.append(UInt8(truncatingIfNeeded: bits))
        }
      }
      return true
    }

    /// Takes the end of the text.
    ///
    /// - Returns: `false` if it is no end of base64.
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
