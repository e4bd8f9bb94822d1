import Bytes

/// A rectangle of a drawing.
struct Rectangle: Hashable, Sendable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double
}

/// Rectangles that have the areas of numbers, each as near to a square as it can be: the squarified
/// treemap of Bruls, Huizing and van Wijk (2000).
enum TreemapLayout {
  /// Lays numbers out in a rectangle.
  ///
  /// - Parameter values: The numbers, the largest first; one below zero counts as zero.
  /// - Returns: A rectangle for each number, in their order.
  static func rectangles(of values: [ByteCount], in bounds: Rectangle) -> [Rectangle] {
    let areas = areas(of: values, in: bounds)
    var (result, free): ([Rectangle], Rectangle) = ([], bounds)
    var row: ArraySlice<Double> = areas[..<0]
    for index in areas.indices {
      let longer = areas[row.startIndex...index]
      let side = min(free.width, free.height)
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

  /// How far from a square the worst rectangle of a row is, that fills a side.
  private static func worstRatio(of row: ArraySlice<Double>, along side: Double) -> Double {
    let sum = row.reduce(0, +)
    guard let largest = row.first, let smallest = row.last, smallest > 0, side > 0 else {
      return .infinity
    }
    return max(
      side * side * largest / (sum * sum), sum * sum / (side * side * smallest))
  }

  /// Puts a row along the shorter side, and takes its room away.
  private static func cut(_ row: ArraySlice<Double>, from free: inout Rectangle) -> [Rectangle] {
    let sum = row.reduce(0, +)
    var rest = free
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
