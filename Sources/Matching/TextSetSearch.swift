public import Bytes

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A search for many texts at once.
///
/// Of each text, a window of 15 bytes is looked for. Wherever it begins, it contains eight bytes that begin at a multiple
/// of eight. So only one in eight places of the searched bytes is looked at: its eight bytes are in a filter, or no
/// window is there.
public struct TextSetSearch: Sendable {
  /// The length of the shortest text that can be found.
  public static let leastBytes = 15

  private static let windowLength = 15

  /// The number of texts.
  public let count: Int

  /// The length of the longest text.
  public let longest: Int

  /// The bytes of all texts, one after the other.
  private var bytes: [UInt8] = []
  /// Where each text begins in `bytes`, and where the last one ends.
  private var starts: [Int] = [0]
  /// Where the window of each text begins in it.
  private var windows: [Int] = []
  /// A bit for the hash of each eight bytes of a window.
  private var filter: [UInt64]
  private let filterShift: UInt64
  /// The texts by the hashes of their windows, with open addressing; -1 is a free place.
  private var table: [Int32]

  /// Creates a search.
  ///
  /// - Parameter texts: The texts to find, each of at least ``leastBytes``.
  public init(_ texts: [ByteString]) {
    count = texts.count
    var longest = 0
    for text in texts {
      precondition(text.bytes.count >= Self.leastBytes, "too short to be found")
      bytes += text.bytes
      starts.append(bytes.count)
      longest = max(longest, text.bytes.count)
    }
    self.longest = longest
    var bits: UInt64 = 16
    // Sixteen bits for each of the eight hashes of a text let one in sixteen other places through.
    while 1 << bits < texts.count * 128, bits < 32 { bits += 1 }
    filterShift = 64 - bits
    filter = [UInt64](repeating: 0, count: 1 << Int(bits - 6))
    var places = 16
    while places < texts.count * 2 { places *= 2 }
    table = [Int32](repeating: -1, count: places)
    chooseWindows()
    for index in 0..<count { insert(index) }
  }

  /// Chooses the window of each text that the fewest other texts have: URLs begin and end alike.
  ///
  /// Together the candidates cover a text. With texts that all had one window, the table would take quadratic time.
  private mutating func chooseWindows() {
    var numbers = [UInt16](repeating: 0, count: 1 << 20)
    func place(_ start: Int) -> Int { Int(hash(of: bytes, at: start) >> 44) }
    func candidates(_ index: Int) -> some Sequence<Int> {
      let last = starts[index + 1] - starts[index] - Self.windowLength
      let number = (last + Self.windowLength - 1) / Self.windowLength
      return (0...number).lazy.map { max(last - $0 * Self.windowLength, 0) }
    }
    for index in 0..<count {
      for window in candidates(index) {
        let place = place(starts[index] + window)
        if numbers[place] < .max { numbers[place] += 1 }
      }
    }
    for index in 0..<count {
      var (best, least) = (0, UInt16.max)
      for window in candidates(index) {
        let number = numbers[place(starts[index] + window)]
        if number < least { (best, least) = (window, number) }
      }
      windows.append(best)
    }
  }

  private mutating func insert(_ index: Int) {
    let start = starts[index] + windows[index]
    for offset in 0..<8 {
      let bit = Self.hash(Self.word(in: bytes, at: start + offset)) >> filterShift
      filter[Int(bit >> 6)] |= 1 << (bit & 63)
    }
    var place = Int(truncatingIfNeeded: hash(of: bytes, at: start) >> 16) & (table.count - 1)
    while table[place] >= 0 { place = (place + 1) & (table.count - 1) }
    table[place] = Int32(index)
  }

  /// Calls `found` with each occurrence of each text.
  ///
  /// - Parameter found: Receives the index of the text, and where it begins.
  public func forEachMatch(
    in text: Span<UInt8>, _ found: (_ index: Int, _ start: Int) -> Void
  ) {
    guard count > 0, text.count >= Self.windowLength else { return }
    let end = text.count - 8
    unsafe text.withUnsafeBytes { text in
      unsafe filter.withUnsafeBufferPointer { filter in
        var place = 0
        while place <= end {
          let word = unsafe text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
          let bit = (word &* Self.factor) >> filterShift
          if unsafe filter[Int(truncatingIfNeeded: bit >> 6)] & (1 &<< (bit & 63)) != 0 {
            unsafe compare(text, around: place, found)
          }
          place &+= 8
        }
      }
    }
  }

  /// Compares the windows that contain the eight bytes at a place.
  private func compare(
    _ text: UnsafeRawBufferPointer, around place: Int, _ found: (Int, Int) -> Void
  ) {
    guard let base = text.baseAddress else { return }
    for offset in 0..<8 {
      let window = place - offset
      guard window >= 0, window + Self.windowLength <= text.count else { continue }
      let first = unsafe text.loadUnaligned(fromByteOffset: window, as: UInt64.self)
      let second = unsafe text.loadUnaligned(fromByteOffset: window + 7, as: UInt64.self)
      var slot = Int(truncatingIfNeeded: Self.hash(first, second) >> 16) & (table.count - 1)
      while table[slot] >= 0 {
        let index = Int(table[slot])
        slot = (slot + 1) & (table.count - 1)
        let start = window - windows[index]
        let length = starts[index + 1] - starts[index]
        guard start >= 0, start + length <= text.count else { continue }
        let isEqual = unsafe bytes.withUnsafeBytes { bytes in
          guard let texts = bytes.baseAddress else { return false }
          return unsafe memcmp(base + start, texts + starts[index], length) == 0
        }
        if isEqual { found(index, start) }
      }
    }
  }

  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

  private static func hash(_ word: UInt64) -> UInt64 { word &* factor }

  /// Returns the hash of a window from its first and its last eight bytes.
  private static func hash(_ first: UInt64, _ second: UInt64) -> UInt64 {
    ((first &* factor) ^ (second &* 0xC2B2_AE3D_27D4_EB4F)) &* factor
  }

  private func hash(of bytes: [UInt8], at start: Int) -> UInt64 {
    Self.hash(Self.word(in: bytes, at: start), Self.word(in: bytes, at: start + 7))
  }

  private static func word(in bytes: [UInt8], at start: Int) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
  }
}
