/// The names of hosts in one form, in whatever form they are written: in Unicode, or in ASCII (Punycode), in any case.
///
/// Of the mappings in UTS 46 (nontransitional: `ß` is kept), it applies those that the standard library knows: letters to
/// lowercase, and combining characters to the composed form (NFC) of Latin, Greek, Cyrillic, Hangul, kana and all others
/// below U+3400; also wide ASCII letters and dots, as input methods for Chinese and Japanese write them. Other
/// compatibility characters are compared as they are. Nothing is validated.
public enum HostName {
  /// Returns a host in ASCII: labels in other letters in Punycode, with `xn--` before them.
  ///
  /// - Parameter host: A host, without a port; may be percent-encoded, and begin or end with a dot.
  /// - Returns: `nil` if the host is in ASCII already, is no UTF-8, is an address, or is longer than any host.
  public static func ascii(_ host: ArraySlice<UInt8>) -> [UInt8]? {
    guard host.count <= longest, host.contains(where: { $0 > 0x7F || $0 == UInt8(ascii: "%") }),
      !host.contains(where: { $0 == UInt8(ascii: ":") || $0.isBracket })
    else { return nil }
    let bytes = unescaped(host)
    guard bytes.contains(where: { $0 > 0x7F }), let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return ascii(text)
  }

  /// The longest host to convert, in bytes: the DNS has hosts of 253 bytes (RFC 1035 §2.3.4), and escapes are longer.
  private static let longest = 1_024

  /// Returns a host in lowercase and in ASCII: labels in other letters in Punycode, with `xn--` before them.
  public static func ascii(_ host: String) -> [UInt8] {
    joined(labels(of: mapped(host)).map { Punycode.encoded($0) })
  }

  /// Returns a host in lowercase and in Unicode: labels in Punycode decoded; those that no host can have are kept.
  public static func unicode(_ host: ArraySlice<UInt8>) -> [UInt8] {
    let ascii = ascii(host) ?? host.map(\.asciiLowercased)
    let labels = ascii.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return joined(
      labels.map { label in
        guard label.starts(with: Punycode.prefix),
          let decoded = Punycode.decoded(label.dropFirst(Punycode.prefix.count)),
          // Otherwise the label stands for no text, such as `xn--a-`, and must not become equal to
          // that of another host.
          self.ascii(decoded).elementsEqual(label)
        else { return Array(label) }
        return Array(decoded.utf8)
      })
  }

  /// Returns a part of a host, such as the beginning of a label, in lowercase and in Unicode.
  public static func mapped(_ part: ByteString) -> ByteString {
    guard part.bytes.contains(where: { $0 > 0x7F }), let text = part.string else {
      return part.asciiLowercased
    }
    return ByteString(mapped(text).flatMap { Array(String($0).utf8) })
  }

  private static func joined(_ labels: [[UInt8]]) -> [UInt8] {
    Array(labels.joined(separator: [UInt8(ascii: ".")]))
  }

  private static func labels(of host: [Unicode.Scalar]) -> [ArraySlice<Unicode.Scalar>] {
    host.split(separator: ".", omittingEmptySubsequences: false)
  }

  /// Returns the bytes without the percent-escapes of bytes that are not ASCII.
  private static func unescaped(_ host: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var index = host.startIndex
    while index < host.endIndex {
      let escape = host[index...].prefix(3)
      let byte = escape.percentUnescaped()
      if escape.first == UInt8(ascii: "%"), byte.count == 1, byte[0] > 0x7F {
        result.append(byte[0])
        index += 3
      } else {
        result.append(host[index])
        index += 1
      }
    }
    return result
  }
}

extension HostName {
  /// Applies the mappings to a host.
  private static func mapped(_ host: String) -> [Unicode.Scalar] {
    var scalars: [Unicode.Scalar] = []
    for scalar in host.unicodeScalars {
      let narrow = narrow(scalar)
      scalars += narrow.properties.lowercaseMapping.unicodeScalars
    }
    return composed(scalars)
  }

  /// Returns the ASCII letter, digit, hyphen or dot that a character of an input method stands for.
  private static func narrow(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    // The ideographic full stops, which UTS 46 §2.3 maps to the dot.
    case 0x3002, 0xFF0E, 0xFF61: "."
    case 0xFF0D, 0xFF10...0xFF19, 0xFF21...0xFF3A, 0xFF41...0xFF5A:
      Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    default: scalar
    }
  }

  /// The composed characters, found by any canonically equivalent text.
  ///
  /// The standard library compares strings by canonical equivalence, but has no public function for NFC. A dictionary of
  /// all characters that NFC leaves as they are, with strings as keys, is such a function for one character.
  private static let compositions: [String: Unicode.Scalar] = {
    var result: [String: Unicode.Scalar] = [:]
    for range in [0xC0...0x33FF, 0xAC00...0xD7A3] as [ClosedRange<UInt32>] {
      for scalar in range.lazy.compactMap({ Unicode.Scalar($0) })
      where !scalar.properties.isFullCompositionExclusion {
        result[String(scalar)] = scalar
      }
    }
    return result
  }()

  /// Returns text in the composed form (UAX 15 §1.3), as far as ``compositions`` go.
  private static func composed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    // Nearly all text is composed, and needs no table.
    guard scalars.contains(where: mayCompose) else { return scalars }
    var result: [Unicode.Scalar] = []
    var starter: Int?
    var last = Unicode.CanonicalCombiningClass.notReordered
    for scalar in ordered(scalars) {
      let scalar =
        scalar.properties.isFullCompositionExclusion
        ? compositions[String(scalar)] ?? scalar : scalar
      let combining = scalar.properties.canonicalCombiningClass
      // A mark of the same class in between blocks the composition.
      if let place = starter, place == result.count - 1 || last < combining {
        var pair = String(result[place])
        pair.unicodeScalars.append(scalar)
        if let composition = compositions[pair] {
          result[place] = composition
          continue
        }
      }
      if combining == .notReordered { starter = result.count }
      last = combining
      result.append(scalar)
    }
    return result
  }

  /// Whether a character may be a part of another one, or have a composed form itself.
  private static func mayCompose(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x300 { return false }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark: return true
    // The vowels and final consonants of Hangul (UAX 15 §1.3) are letters.
    default:
      return 0x1161...0x11FF ~= scalar.value || properties.isFullCompositionExclusion
    }
  }

  /// Returns text with its marks in the canonical order.
  private static func ordered(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var result: [Unicode.Scalar] = []
    // The marks after the last letter, each with what it is sorted by: those of one class keep their order.
    var marks: [(order: (UInt8, Int), scalar: Unicode.Scalar)] = []
    for scalar in scalars {
      let combining = scalar.properties.canonicalCombiningClass.rawValue
      if combining > 0 {
        marks.append(((combining, marks.count), scalar))
      } else {
        result += marks.sorted { $0.order < $1.order }.map(\.scalar) + [scalar]
        marks = []
      }
    }
    return result + marks.sorted { $0.order < $1.order }.map(\.scalar)
  }
}

/// The encoding of labels in host names as ASCII (RFC 3492).
private enum Punycode {
  /// What stands before an encoded label (RFC 5890 §2.3.2.1).
  static let prefix = Array("xn--".utf8)

  /// The longest label to convert, in characters: no host has a label of more than 63 bytes, and the limit keeps sums from
  /// overflowing and the time linear.
  private static let longest = 255

  /// Returns a label, encoded if it is not ASCII.
  static func encoded(_ label: ArraySlice<Unicode.Scalar>) -> [UInt8] {
    let points = label.map(\.value)
    var output = points.filter { $0 < 0x80 }.map { UInt8($0) }
    if output.count == points.count { return output }
    guard points.count <= longest else { return label.flatMap { Array(String($0).utf8) } }
    let basic = UInt32(output.count)
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    // The numbers are the parameters of Punycode (RFC 3492 §5): 72 is the initial bias, 700 the
    // damp, 38 the skew, 36 the base, and 455 is (36 - 1) * 26 / 2.
    var (delta, bias, handled): (UInt32, UInt32, UInt32) = (0, 72, basic)
    var least: UInt32 = 0x80
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
    return prefix + output
  }

  /// Returns the text of an encoded label, without its prefix; `nil` if it is not the code of a text.
  static func decoded(_ code: ArraySlice<UInt8>) -> String? {
    guard code.count <= longest else { return nil }
    let hyphen = code.lastIndex(of: UInt8(ascii: "-"))
    var points = code[..<(hyphen ?? code.startIndex)].map { UInt32($0) }
    guard points.allSatisfy({ $0 < 0x80 }) else { return nil }
    var (place, bias, point): (UInt32, UInt32, UInt32) = (0, 72, 0x80)
    var digits = code[(hyphen.map { $0 + 1 } ?? code.startIndex)...]
    while !digits.isEmpty {
      guard let delta = number(from: &digits, bias) else { return nil }
      let count = UInt32(points.count) + 1
      let (sum, overflows) = place.addingReportingOverflow(delta)
      guard !overflows, sum / count <= 0x10FFFF - point else { return nil }
      bias = adapted(delta, isFirst: place == 0, points: count)
      point += sum / count
      place = sum % count
      points.insert(point, at: Int(place))
      place += 1
    }
    var text = String.UnicodeScalarView()
    for point in points {
      guard let scalar = Unicode.Scalar(point) else { return nil }
      text.append(scalar)
    }
    return String(text)
  }

  /// Takes a number in base-36 digits whose weights depend on the bias; `nil` if there is none.
  private static func number(from digits: inout ArraySlice<UInt8>, _ bias: UInt32) -> UInt32? {
    var (result, weight): (UInt32, UInt32) = (0, 1)
    var position: UInt32 = 36
    while let digit = digits.popFirst() {
      guard let value = value(of: digit) else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: weight)
      let (sum, overflows) = result.addingReportingOverflow(product)
      guard !isTooLarge, !overflows else { return nil }
      result = sum
      let threshold = Self.threshold(position, bias)
      if value < threshold { return result }
      let (next, isEnd) = weight.multipliedReportingOverflow(by: 36 - threshold)
      guard !isEnd else { return nil }
      weight = next
      position += 36
    }
    return nil
  }

  /// Appends a number in base-36 digits whose weights depend on the bias.
  private static func append(_ delta: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
    var rest = delta
    var position: UInt32 = 36
    while true {
      let threshold = Self.threshold(position, bias)
      if rest < threshold { break }
      output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
      rest = (rest - threshold) / (36 - threshold)
      position += 36
    }
    output.append(digit(rest))
  }

  private static func threshold(_ position: UInt32, _ bias: UInt32) -> UInt32 {
    position <= bias ? 1 : min(position - bias, 26)
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

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 0x61
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) - 0x30 + 26
    default: nil
    }
  }
}
