extension Double {
  /// The number in the format of C's `%a`, which is exact: `0x1.8p+1`, `-inf`.
  var hexadecimal: String {
    let sign = self.sign == .minus ? "-" : ""
    if isNaN { return "nan" }
    if isInfinite { return sign + "inf" }
    if isZero { return sign + "0x0p+0" }
    let isSmall = exponentBitPattern == 0
    let exponent = isSmall ? -1022 : Int(exponentBitPattern) - 1023
    var digits = Array(String(significandBitPattern, radix: 16).utf8)
    digits.insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: 13 - digits.count), at: 0)
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    let fraction = digits.isEmpty ? "" : "." + String(decoding: digits, as: UTF8.self)
    return "\(sign)0x\(isSmall ? 0 : 1)\(fraction)p\(exponent < 0 ? "" : "+")\(exponent)"
  }
}
