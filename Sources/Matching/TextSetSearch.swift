import Bytes

/// A search for many texts at once.
///
/// Of each text, a window of 15 bytes is looked for. Wherever it begins, it contains eight bytes that begin at a multiple
/// of eight. So only one in eight places of the searched bytes is looked at: its eight bytes are in a filter, or no
/// window is there.
public struct TextSetSearch: Sendable {
  /// Whether to go on looking for a text that was found.
  public enum Interest: Sendable {
    /// Look for it further.
    case keep
    /// Report no further occurrence of it.
    case drop
  }

  /// A place of the table.
  private struct Entry {
    /// The number of the first text with the window; -1 if the place is free.
    var number: Int32 = -1
    /// The highest bits of the hash of the window, which spare most looks at texts that are not there.
    var tag: UInt32 = 0
  }

  private let texts: [TextSet.Text]
  /// Whether each text is no longer looked for.
  private var isDropped: [Bool]
  /// The number of texts that are looked for.
  public private(set) var count = 0
  /// Three bits in one word for the hash of each eight bytes of a window.
  private var filter: [UInt64] = []
  private var filterShift: UInt64 = 0
  /// The windows by their hashes, with open addressing.
  private var table: [Entry] = []
  /// A bit for the hash of each window. It fits into a cache of the processor when the table does not.
  private var windows: [UInt64] = []
  private var windowShift: UInt64 = 0
  /// For each text the next one with the same window; -1 if there is none.
  private var next: [Int32] = []
  /// The number of texts in the table, including those that were dropped later.
  private var tableCount = 0

  /// Creates a search for all texts of a set, whose numbers are their positions in the order in which they were added.
  public init(_ set: TextSet) {
    precondition(set.count < Int(Int32.max), "too many texts")
    texts = set.texts
    isDropped = [Bool](repeating: false, count: texts.count)
    build()
  }

  /// Looks for these texts from now on, and for no others.
  public mutating func look(for numbers: some Sequence<Int>) {
    isDropped = [Bool](repeating: true, count: texts.count)
    for number in numbers { isDropped[number] = false }
    build()
  }

  private mutating func build() {
    let numbers = texts.indices.lazy.filter { [isDropped] in !isDropped[$0] }
    count = numbers.reduce(0) { number, _ in number + 1 }
    tableCount = count
    var bits: UInt64 = 16
    // With sixteen bits for each of the eight hashes of a text, one in a hundred other places gets through.
    while 1 << bits < count * 128, bits < 32 { bits += 1 }
    filterShift = 64 - (bits - 6)
    filter = [UInt64](repeating: 0, count: 1 << Int(bits - 6))
    var places = 16
    while places < count * 2 { places *= 2 }
    table = [Entry](repeating: Entry(), count: places)
    // Eight places of the table have the bits of one word: at least sixteen bits for each window.
    windows = [UInt64](repeating: 0, count: max(places / 8, 1))
    windowShift = 64 - UInt64(windows.count.trailingZeroBitCount) - 6
    next = [Int32](repeating: -1, count: texts.count)
    for number in numbers { insert(number) }
  }

  private mutating func insert(_ number: Int) {
    let text = texts[number]
    for offset in 0..<8 {
      // The eight bytes at an offset in the window, from its first eight and the seven that follow them.
      let shift = UInt64(8 * offset)
      let word =
        offset == 0 ? text.first : text.first >> shift | (text.last >> 8) << (64 - shift)
      let hash = word &* TextSet.factor
      filter[Int(truncatingIfNeeded: hash >> filterShift)] |= Self.mask(of: hash)
    }
    let hash = TextSet.hash(text.first, text.last)
    let bit = hash &>> windowShift
    windows[Int(truncatingIfNeeded: bit &>> 6)] |= 1 &<< (bit & 63)
    var place = slot(of: hash)
    // One place for all texts with a window: many places in a row would make each look at one of them slow.
    while table[place].number >= 0, !texts[Int(table[place].number)].hasWindow(of: text) {
      place = (place + 1) & (table.count - 1)
    }
    next[number] = table[place].number
    table[place] = Entry(number: Int32(number), tag: Self.tag(of: hash))
  }

  /// Returns the bits of eight bytes in their word of the filter, which the highest bits of their hash choose.
  private static func mask(of hash: UInt64) -> UInt64 {
    // The lower half of a product depends on the first bytes only.
    let mixed = hash ^ hash &>> 32
    return 1 &<< (mixed & 63) | 1 &<< (mixed &>> 6 & 63) | 1 &<< (mixed &>> 12 & 63)
  }

  /// Returns where in the table the hash of a window is looked up.
  private func slot(of hash: UInt64) -> Int {
    Int(truncatingIfNeeded: hash &>> 8) & (table.count - 1)
  }

  private static func tag(of hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash &>> 32) }

  /// Calls `found` with each occurrence of each text.
  ///
  /// - Parameter found: Receives the number of the text, and its place.
  public mutating func forEachMatch(
    in bytes: Span<UInt8>, _ found: (_ number: Int, _ place: Range<Int>) -> Interest
  ) {
    guard count > 0, bytes.count >= TextSet.windowLength else { return }
    let end = bytes.count - 8
    let (words, shift) = (filter, filterShift)
    let filter = words.span
    let (bits, bitShift) = (windows, windowShift)
    let windows = bits.span
    var place = 0
    while place <= end {
      let hash = bytes.word(at: place) &* TextSet.factor
      let mask = Self.mask(of: hash)
      if filter[Int(truncatingIfNeeded: hash &>> shift)] & mask == mask {
        for window in max(place - 7, 0)...min(place, bytes.count - TextSet.windowLength) {
          let (first, last) = (bytes.word(at: window), bytes.word(at: window + 7))
          let hash = TextSet.hash(first, last)
          let bit = hash &>> bitShift
          guard windows[Int(truncatingIfNeeded: bit &>> 6)] &>> (bit & 63) & 1 != 0 else {
            continue
          }
          compare(bytes, window, first, last, hash, found)
        }
      }
      place &+= 8
    }
    // Places that pass the filter for texts that are no longer looked for cost more time than a new table.
    if count < tableCount - tableCount / 16 { build() }
  }

  /// Compares the texts whose window is at a place.
  private mutating func compare(
    _ bytes: Span<UInt8>, _ window: Int, _ first: UInt64, _ last: UInt64, _ hash: UInt64,
    _ found: (Int, Range<Int>) -> Interest
  ) {
    let tag = Self.tag(of: hash)
    var slot = slot(of: hash)
    while table[slot].number >= 0 {
      let entry = table[slot]
      slot = (slot + 1) & (table.count - 1)
      guard entry.tag == tag, texts[Int(entry.number)].hasWindow(first, last) else { continue }
      compare(bytes, withTextsFrom: Int(entry.number), at: window, found)
      return
    }
  }

  /// Compares texts that all have the window at a place.
  private mutating func compare(
    _ bytes: Span<UInt8>, withTextsFrom first: Int, at window: Int,
    _ found: (Int, Range<Int>) -> Interest
  ) {
    var number = first
    while number >= 0 {
      defer { number = Int(next[number]) }
      let text = texts[number]
      let start = window - Int(text.window)
      let end = start + Int(text.length)
      guard !isDropped[number], start >= 0, end <= bytes.count,
        TextSet.digest(bytes.extracting(start..<end)) == text.digest
      else { continue }
      if found(number, start..<end) == .drop {
        isDropped[number] = true
        count -= 1
      }
    }
  }
}

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
