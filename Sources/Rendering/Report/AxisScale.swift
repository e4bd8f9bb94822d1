import Administration
import Bytes
import ResponseStorage

/// An axis from 0 to a round number of bytes, with marks.
struct AxisScale {
  /// A mark on the axis.
  struct Mark {
    /// The position, from 0 to 1.
    let part: Double
    let text: String
  }

  // `Double`, because a store can claim sizes near `Int64.max`.
  private let step: Double
  private let count: Int
  private let unit: Double

  /// Creates an axis for a number of bytes, with one to five marks after 0.
  init(holding bytes: ByteCount) {
    var unit = 1.0
    // Stop at EiB, the largest unit of `ByteSizeText`.
    while unit < 0x1p60, Double(bytes) / unit >= 1_024 { unit *= 1_024 }
    let value = Double(max(bytes, 1)) / unit
    let steps = [1, 2, 5, 10, 25, 50, 100, 250, 500].map { Double($0) }
    let chosen = steps.first { value / $0 <= 5 } ?? 500
    self.unit = unit
    step = chosen * unit
    count = max(1, Int((value / chosen).rounded(.up)))
  }

  /// The marks, including 0.
  var marks: [Mark] {
    (0...count).map { number in
      let size: ByteCount = Int64(exactly: Double(number) * step).map { ByteCount($0) } ?? .max
      return Mark(
        part: Double(number) / Double(count), text: number == 0 ? "0" : ReportWords.roundSize(size)
      )
    }
  }

  /// Returns a number of bytes in the unit of the marks, without the name of the unit; empty if it rounds to 0.
  func number(_ bytes: ByteCount) -> String {
    let value = Double(bytes) / unit
    var text = TextBuffer()
    text.append(tenthsOf: value < 9.95 ? value : value.rounded())
    // A bar with "0" above it would look like a mistake, as it is drawn all the same.
    return value < 0.05 ? "" : ByteString(text.bytes).string ?? ""
  }

  /// Returns the position of a number of bytes on the axis, from 0 to 1.
  func part(_ bytes: ByteCount) -> Double { Double(bytes) / (step * Double(count)) }
}
