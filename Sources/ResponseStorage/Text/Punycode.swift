/// The encoding of host names as ASCII (RFC 3492).
enum Punycode {
  /// Returns a host in lower case, with labels that are not ASCII in Punycode.
  ///
  /// Of the mappings in UTS 46, it applies only the one to lower case.
  static func host(_ host: String) -> [UInt8] {
    // Split by scalars: a full stop that is followed by a combining mark is no `Character` of its
    // own.
    let labels = host.lowercased().unicodeScalars.split(
      separator: ".", omittingEmptySubsequences: false)
    return Array(labels.map { Self.label($0) }.joined(separator: [UInt8(ascii: ".")]))
  }

  private static func label(_ label: Substring.UnicodeScalarView) -> [UInt8] {
    let points = label.map(\.value)
    var output = points.filter { $0 < 0x80 }.map { UInt8($0) }
    if output.count == points.count { return output }
    let basic = UInt32(output.count)
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    // The numbers are the parameters of Punycode (RFC 3492 §5): 72 is the initial bias, 700 the
    // damp, 38 the skew, 36 the base, and 455 is (36 - 1) * 26 / 2.
    var (delta, bias, handled): (UInt32, UInt32, UInt32) = (0, 72, basic)
    var least: UInt32 = 0x80
    // No host is that long, and the limit keeps the sums below from overflowing.
    guard points.count < 256 else { return Array(String(label).utf8) }
    while handled < UInt32(points.count) {
      let next = points.filter { $0 >= least }.min() ?? least
      delta += (next - least) * (handled + 1)
      least = next
      for point in points {
        if point < least { delta += 1 }
        guard point == least else { continue }
        append(delta, bias, to: &output)
        bias = adapted(delta, isFirst: handled == basic, points: handled + 1)
        (delta, handled) = (0, handled + 1)
      }
      delta += 1
      least += 1
    }
    return Array("xn--".utf8) + output
  }

  /// Appends a number in base-36 digits whose weights depend on the bias.
  private static func append(_ delta: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
    var rest = delta
    var position: UInt32 = 36
    while true {
      let threshold = position <= bias ? 1 : min(position - bias, 26)
      if rest < threshold { break }
      output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
      rest = (rest - threshold) / (36 - threshold)
      position += 36
    }
    output.append(digit(rest))
  }

  private static func adapted(_ delta: UInt32, isFirst: Bool, points: UInt32) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / points
    var bias: UInt32 = 0
    while delta > 455 {
      delta /= 35
      bias += 36
    }
    return bias + 36 * delta / (delta + 38)
  }

  private static func digit(_ value: UInt32) -> UInt8 {
    UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
  }
}
