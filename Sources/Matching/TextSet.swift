import Bytes

/// Texts to look for at once, without the texts themselves.
///
/// Of each text, 15 bytes and a digest are kept: about 50 bytes, whatever its length.
public struct TextSet: Sendable {
  /// The length of the shortest text.
  public static let leastBytes = 15

  /// The length of the longest text.
  public static let mostBytes = Int(UInt16.max)

  static let windowLength = 15

  /// A text. By its window a place is found where the text may be, and by the digest whether it is there.
  struct Text: Sendable {
    /// The first eight bytes of the window.
    var first: UInt64
    /// The last eight bytes of the window, of which the first is also the last of the others.
    var last: UInt64
    var digest: UInt64
    var length: UInt16
    /// Where the window begins in the text.
    var window: UInt16

    /// Whether this is the window.
    func hasWindow(_ first: UInt64, _ last: UInt64) -> Bool {
      self.first == first && self.last == last
    }

    /// Whether both have the same window.
    func hasWindow(of other: Text) -> Bool { hasWindow(other.first, other.last) }
  }

  private(set) var texts: [Text] = []
  private var digests: Set<UInt64> = []
  /// How many texts have a window, by its hash.
  private var uses = [UInt16](repeating: 0, count: 1 << 20)

  /// Creates an empty set.
  public init() {}

  /// The number of texts.
  public var count: Int { texts.count }

  /// Adds a text, and returns whether the set was without it.
  ///
  /// - Precondition: The text has as many bytes as a text can have.
  public mutating func insert(_ text: Span<UInt8>) -> Bool {
    precondition(Self.leastBytes...Self.mostBytes ~= text.count, "too short or too long")
    let digest = Self.digest(text)
    guard digests.insert(digest).inserted else { return false }
    let window = chooseWindow(text)
    texts.append(
      Text(
        first: text.word(at: window), last: text.word(at: window + 7), digest: digest,
        length: UInt16(text.count), window: UInt16(window)))
    return true
  }

  /// Chooses the window that the fewest earlier texts have: URLs begin and end alike.
  ///
  /// Together the candidates cover a text. With texts that all had one window, the search would take quadratic time.
  private mutating func chooseWindow(_ text: Span<UInt8>) -> Int {
    let last = text.count - Self.windowLength
    var (best, least) = (last, UInt16.max)
    var window = last
    while true {
      let hash = Self.hash(text.word(at: window), text.word(at: window + 7))
      let place = Int(truncatingIfNeeded: hash >> 44)
      if uses[place] < least { (best, least) = (window, uses[place]) }
      if uses[place] < .max { uses[place] += 1 }
      guard window > 0 else { return best }
      window = max(window - Self.windowLength, 0)
    }
  }

  /// Returns a digest of a text, which is another one in each process: no text can be made to have that of another.
  static func digest(_ text: Span<UInt8>) -> UInt64 {
    var hasher = Hasher()
    var place = 0
    while place < text.count {
      hasher.combine(text.word(paddedAt: place))
      place += 8
    }
    hasher.combine(text.count)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// Returns the hash of a window from its first and its last eight bytes.
  static func hash(_ first: UInt64, _ last: UInt64) -> UInt64 {
    ((first &* factor) ^ (last &* 0xC2B2_AE3D_27D4_EB4F)) &* factor
  }
}
