import Bytes

/// Bars that show a share.
enum BarText {
  /// Returns a bar of at most `width` columns, with a resolution of an eighth of a column, or of `#` if `asciiOnly`.
  static func text(part: Int64, of whole: Int64, width: Int, asciiOnly: Bool) -> String {
    let share = share(part, of: whole)
    if asciiOnly {
      return String(repeating: "#", count: Int((share * Double(width)).rounded()))
    }
    let eighths = Int((share * Double(width * 8)).rounded())
    // With eighths, shares that differ by less than a column still look different.
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + partial[eighths % 8]
  }

  /// Returns the percentage of `part` in `whole`, which may exceed 100.
  static func percent(_ part: Int64, of whole: Int64) -> Int64 {
    guard whole > 0, part > 0 else { return 0 }
    let percent = (Double(part) / Double(whole) * 100).rounded()
    // Larger values would trap in the conversion, and a store can claim any size.
    return percent < 1e15 ? Int64(percent) : .max
  }

  /// Returns the number of columns of the bar that ``text(part:of:width:asciiOnly:)`` returns.
  static func columns(part: ByteCount, of whole: ByteCount, width: Int, asciiOnly: Bool) -> Int {
    text(part: part, of: whole, width: width, asciiOnly: asciiOnly).unicodeScalars.count
  }

  /// Returns the bar for a number of bytes.
  static func text(part: ByteCount, of whole: ByteCount, width: Int, asciiOnly: Bool) -> String {
    text(part: part.bytes, of: whole.bytes, width: width, asciiOnly: asciiOnly)
  }

  /// Returns the percentage of one size in another, which may exceed 100.
  static func percent(_ part: ByteCount, of whole: ByteCount) -> Int64 {
    percent(part.bytes, of: whole.bytes)
  }

  private static func share(_ part: Int64, of whole: Int64) -> Double {
    guard whole > 0 else { return 0 }
    // A part can be larger than its whole, as of a cache over its capacity, and a bar must not
    // leave its place.
    return min(max(Double(part) / Double(whole), 0), 1)
  }
}
