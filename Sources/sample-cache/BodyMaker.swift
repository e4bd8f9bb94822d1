/// Creates bodies cheaply: each is a slice of text or noise that is generated once, framed like its media type.
struct BodyMaker {
  private static let stockSize = 1 << 20
  // Below the size of the stock, of which each body is a slice.
  private static let largestBody = 900_000

  private let text: [UInt8]
  // Images and fonts are compressed already. From text alone, archives would come out far smaller
  // than those of a real cache.
  private let noise: [UInt8]
  private let allowsLarge: Bool

  /// Creates a body maker, and generates its text and noise.
  ///
  /// - Parameter allowsLarge: Whether bodies may be large enough to be stored in body files.
  init(allowsLarge: Bool, using generator: inout SplitMix64) {
    let words = """
      cache store fresh stale river mountain yellow quiet signal paper window garden seven north
      bread copper follow under market candle winter lemon anchor bridge silver thread
      """
      .split { $0 == " " || $0 == "\n" }.map { Array($0.utf8) + [0x20] }
    var text: [UInt8] = []
    text.reserveCapacity(Self.stockSize + 16)
    while text.count < Self.stockSize { text += generator.pick(words) }
    var noise: [UInt8] = []
    noise.reserveCapacity(Self.stockSize)
    while noise.count < Self.stockSize {
      let word = generator.next()
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        noise.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    self.text = text
    self.noise = noise
    self.allowsLarge = allowsLarge
  }

  /// Returns a body of the given kind, of random size.
  func body(of kind: MediaKind, using generator: inout SplitMix64) -> [UInt8] {
    let size =
      allowsLarge
      ? min(
        Self.largestBody,
        Int(generator.logNormal(median: kind.medianSize, doublings: kind.doublings)))
      // CFNetwork moves bodies from 4,096 bytes on into files, so this stays below.
      : min(4_000, Int(generator.logNormal(median: 520, doublings: 1.3)))
    switch kind.content {
    case .text(let opening, let closing):
      let frame = opening.utf8.count + closing.utf8.count
      return framed(
        Array(opening.utf8), text, max(1, size - frame), Array(closing.utf8), using: &generator)
    case .noise(let magic):
      return framed(magic, noise, max(1, size - magic.count), [], using: &generator)
    }
  }

  private func framed(
    _ opening: [UInt8], _ stock: [UInt8], _ count: Int, _ closing: [UInt8],
    using generator: inout SplitMix64
  ) -> [UInt8] {
    let start = generator.below(stock.count - count)
    var body: [UInt8] = []
    body.reserveCapacity(opening.count + count + closing.count)
    body += opening
    body += stock[start..<start + count]
    body += closing
    return body
  }
}
