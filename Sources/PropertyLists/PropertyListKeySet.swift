import Bytes

/// Several strings to look for in property lists at once, ignoring the case of their letters.
public struct PropertyListKeySet: Sendable {
  /// A text as a string object of less than 15 bytes: a marker, and the bytes.
  private struct Key: Sendable {
    /// The first and the last eight bytes of the object as big-endian numbers, in lowercase. A shorter object is padded
    /// with zeros, and its last bytes are not compared.
    let (beginning, ending): (UInt64, UInt64)
    /// The mask of the first bytes that exist.
    let mask: UInt64
    /// The bits that turn capital letters into lowercase; none for other characters.
    let (beginningCase, endingCase): (UInt64, UInt64)

    init(_ text: String) {
      let object = [0x50 | UInt8(text.utf8.count)] + Array(text.utf8)
      // Only letters get the case bit: in a hyphen, it would equate other characters.
      let bits = object.map { byte in byte >= UInt8(ascii: "a") ? 0x20 : 0 as UInt8 }
      func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
      }
      let missing = UInt64(max(0, 8 - object.count)) * 8
      (beginning, ending) = (number(object.prefix(8)) << missing, number(object.suffix(8)))
      (beginningCase, endingCase) = (number(bits.prefix(8)) << missing, number(bits.suffix(8)))
      mask = .max << missing
    }
  }

  /// The keys, shortest first, each with its index in `texts`.
  private let keys: [(key: Key, place: Int)]
  /// The index in `keys` of the first key of each length.
  private let starts: [Int]
  private let texts: [[UInt8]]

  /// Creates a set.
  ///
  /// - Parameter texts: Texts of 1 to 14 bytes, of lowercase letters and hyphens.
  public init(_ texts: [String]) {
    precondition(
      texts.allSatisfy { text in
        // Up to 14 bytes, the length is part of the marker, and an object needs at most two words.
        1..<15 ~= text.utf8.count
          && text.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
          }
      })
    self.texts = texts.map { Array($0.utf8) }
    let lengths = self.texts.map(\.count)
    keys = texts.indices.sorted { lengths[$0] < lengths[$1] }.map { (Key(texts[$0]), $0) }
    starts = (0...16).map { length in lengths.count { $0 < length } }
  }

  /// The index of the text with this length and these first bytes, and the last bytes that `ending` returns.
  @inline(__always)
  fileprivate func place(_ count: Int, _ beginning: UInt64, _ ending: () -> UInt64) -> Int? {
    let (keys, starts) = (keys.span, starts.span)
    for index in starts[count]..<starts[count + 1] {
      let key = keys[index].key
      guard (beginning | key.beginningCase) & key.mask == key.beginning else { continue }
      // With its marker, an object of a shorter text fits into the first eight bytes.
      if count < 7 || ending() | key.endingCase == key.ending { return keys[index].place }
    }
    return nil
  }

  fileprivate func place(of text: [UInt8]) -> Int? {
    let small = text.map(\.asciiLowercased)
    return texts.firstIndex(of: small)
  }
}

extension BinaryPropertyList {
  /// Finds the next entry whose key is one of the texts, ignoring case. Returns its position and the index of the text,
  /// or `nil` if there is none.
  ///
  /// - Parameter position: The position at which to begin. Updated to the position at which to continue, also after an
  ///   error.
  /// - Complexity: O(*n* · *m*), where *n* is the number of entries and *m* the number of texts of one length.
  public func next(
    in entries: Entries, from position: inout Int, whoseKeyIsIn keys: PropertyListKeySet
  ) throws(PropertyListError) -> (position: Int, place: Int)? {
    while position < entries.count {
      let current = position
      position &+= 1
      if let place = try place(ofKey: current, of: entries, in: keys) { return (current, place) }
    }
    return nil
  }

  /// The index of the text that equals the key at a position; `nil` if there is none, or the key is not a string.
  @inline(__always)
  private func place(
    ofKey position: Int, of entries: Entries, in keys: PropertyListKeySet
  ) throws(PropertyListError) -> Int? {
    let object = try key(position, of: entries)
    let offset = try offset(of: object)
    let beginning = Self.word(bytes, at: offset)
    let marker = beginning &>> 56
    guard marker &>> 4 == 0x5, marker != 0x5F else {
      // In most long strings, the third byte is the length, and no text has 15 bytes or more.
      if beginning &>> 48 == 0x5F10, beginning &>> 40 & 0xFF >= 15 { return nil }
      return try place(ofRare: object, marker, in: keys)
    }
    let count = Int(truncatingIfNeeded: marker & 0x0F)
    let end = offset &+ 1 &+ count
    // The last word may begin before the object, in which case `place` does not look at it.
    guard end <= objectsEnd else { throw PropertyListError(.truncated, at: offset) }
    return keys.place(count, beginning) { Self.word(bytes, at: end &- 8) }
  }

  /// Like `place(ofKey:of:in:)`, for a string that is long, in UTF-16, or with a longer length field than
  /// CoreFoundation writes.
  private func place(
    ofRare string: Object, _ marker: UInt64, in keys: PropertyListKeySet
  ) throws(PropertyListError) -> Int? {
    guard marker == 0x5F || marker &>> 4 == 0x6 else { return nil }
    let head = try head(of: string)
    return head.count < 15 ? try keys.place(of: utf8(head)) : nil
  }
}

/// A string to look for in property lists, encoded once and compared with many.
public struct PropertyListKey: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The text as a string object, encoded as CoreFoundation always encodes it.
  let object: [UInt8]
  /// The number of bytes of the text.
  let count: Int
  /// The first eight bytes of the object as a big-endian number, padded with zeros, and the mask of the bytes that
  /// exist.
  let (beginning, mask): (UInt64, UInt64)
  /// The last eight bytes of the object, if it has so many.
  let ending: UInt64

  /// Creates a key.
  ///
  /// - Parameter text: The key, in ASCII.
  public init(_ text: String) {
    count = text.utf8.count
    // The marker has the length in it, so comparing the first word rules out keys of other lengths,
    // too.
    var object: [UInt8] = []
    PropertyListWriter.appendHead(0x50, count, to: &object)
    object += text.utf8
    self.object = object
    let missing = UInt64(max(0, 8 - object.count)) * 8
    mask = .max << missing
    beginning = object.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << missing
    ending = object.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The text, in ASCII.
  var text: ArraySlice<UInt8> {
    object.suffix(count)
  }

  public var description: String { String(decoding: text, as: UTF8.self) }
}
