import Administration
import Bytes
import ResponseStorage

/// A rectangle in a drawing.
struct Rectangle: Hashable, Sendable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double
}

/// Lays out rectangles with given areas, each as close to a square as possible: the squarified treemap of Bruls,
/// Huizing and van Wijk (2000).
enum TreemapLayout {
  /// Divides a rectangle by numbers.
  ///
  /// - Parameter values: The numbers in descending order; negative ones count as 0.
  /// - Returns: A rectangle for each number, in the same order.
  static func rectangles(of values: [ByteCount], in bounds: Rectangle) -> [Rectangle] {
    let areas = areas(of: values, in: bounds)
    var (result, free): ([Rectangle], Rectangle) = ([], bounds)
    var row: ArraySlice<Double> = areas[..<0]
    for index in areas.indices {
      let longer = areas[row.startIndex...index]
      let side = min(free.width, free.height)
      // Long strips of equal area are hard to compare, and have no room for a name.
      if !row.isEmpty, worstRatio(of: longer, along: side) > worstRatio(of: row, along: side) {
        result += cut(row, from: &free)
        row = areas[index...index]
      } else {
        row = longer
      }
    }
    return result + cut(row, from: &free)
  }

  private static func areas(of values: [ByteCount], in bounds: Rectangle) -> [Double] {
    let values = values.map { Double(max(0, $0)) }
    let total = values.reduce(0, +)
    let scale = total > 0 ? bounds.width * bounds.height / total : 0
    return values.map { $0 * scale }
  }

  /// Returns the worst aspect ratio of the rectangles in a row along a side.
  private static func worstRatio(of row: ArraySlice<Double>, along side: Double) -> Double {
    let sum = row.reduce(0, +)
    // Guards against division by zero.
    guard let largest = row.first, let smallest = row.last, smallest > 0, side > 0 else {
      return .infinity
    }
    return max(
      side * side * largest / (sum * sum), sum * sum / (side * side * smallest))
  }

  /// Places a row along the shorter side, and removes its area from the free rectangle.
  private static func cut(_ row: ArraySlice<Double>, from free: inout Rectangle) -> [Rectangle] {
    let sum = row.reduce(0, +)
    var rest = free
    // Sizes of 0 are common, as bodies of redirects are empty.
    guard sum > 0, free.width > 0, free.height > 0 else {
      return row.map { _ in Rectangle(x: free.x, y: free.y, width: 0, height: 0) }
    }
    let isUpright = free.width >= free.height
    let thickness = isUpright ? sum / free.height : sum / free.width
    let rectangles = row.map { area in
      var rectangle = rest
      if isUpright {
        (rectangle.width, rectangle.height) = (thickness, area / thickness)
        rest.y += rectangle.height
      } else {
        (rectangle.width, rectangle.height) = (area / thickness, thickness)
        rest.x += rectangle.width
      }
      return rectangle
    }
    if isUpright {
      (free.x, free.width) = (free.x + thickness, max(0, free.width - thickness))
    } else {
      (free.y, free.height) = (free.y + thickness, max(0, free.height - thickness))
    }
    return rectangles
  }
}

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
