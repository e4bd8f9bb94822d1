import Bytes
import Files
import ResponseStorage

/// The values of a response that are compared with another.
struct EntryFingerprint {
  /// The key by which responses are compared.
  var key: ByteString
  var url: ByteString?
  var id: StoredResponse.ID
  var digests = AspectDigests()

  /// About how many bytes it takes in memory.
  var length: Int { key.bytes.count + (url == key ? 0 : url?.bytes.count ?? 0) + 192 }
}

/// The digests of the aspects of a response; those that are not compared are missing.
struct AspectDigests: Hashable {
  private var (body, headers): (PartDigest, PartDigest) = (.none, .none)
  private var (validators, other): (PartDigest, PartDigest) = (.none, .none)

  /// The digest of an aspect.
  subscript(aspect: StoreComparison.Aspect) -> PartDigest {
    get {
      switch aspect {
      case .body: body
      case .headers: headers
      case .validators: validators
      case .other: other
      }
    }
    set {
      switch aspect {
      case .body: body = newValue
      case .headers: headers = newValue
      case .validators: validators = newValue
      case .other: other = newValue
      }
    }
  }
}

// As bytes in a temporary file, which the same process reads again.
extension EntryFingerprint {
  /// Appends the fingerprint, after its length.
  func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(word: 0)
    Self.append(key, to: &bytes)
    bytes.append(url == nil ? 0 : url == key ? 1 : 2)
    if let url, url != key { Self.append(url, to: &bytes) }
    switch id {
    case .row(let row):
      bytes.append(0)
      bytes.append(word: UInt64(bitPattern: row))
    case .file(let name):
      bytes.append(1)
      Self.append(name, to: &bytes)
    }
    for aspect in StoreComparison.Aspect.allCases {
      bytes.append(word: digests[aspect].high)
      bytes.append(word: digests[aspect].low)
    }
    var length: [UInt8] = []
    length.append(word: UInt64(bytes.count - start - Self.lengthOfLength))
    bytes.replaceSubrange(start..<start + Self.lengthOfLength, with: length)
  }

  /// The number of bytes of the length before a fingerprint.
  static let lengthOfLength = 8

  /// Reads the length of the next fingerprint.
  static func length(in bytes: ArraySlice<UInt8>) -> Int {
    var bytes = bytes
    return Int(clamping: number(from: &bytes))
  }

  /// Reads a fingerprint without its length.
  init(reading bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    key = Self.text(from: &bytes)
    switch bytes.removeFirst() {
    case 0: url = nil
    case 1: url = key
    default: url = Self.text(from: &bytes)
    }
    id =
      bytes.removeFirst() == 0
      ? .row(Int64(bitPattern: Self.number(from: &bytes))) : .file(Self.text(from: &bytes))
    for aspect in StoreComparison.Aspect.allCases {
      let high = Self.number(from: &bytes)
      digests[aspect] = PartDigest(high: high, low: Self.number(from: &bytes))
    }
  }

  private static func append(_ text: ByteString, to bytes: inout [UInt8]) {
    bytes.append(word: UInt64(text.bytes.count))
    bytes += text.bytes
  }

  private static func text(from bytes: inout ArraySlice<UInt8>) -> ByteString {
    let count = Int(clamping: number(from: &bytes))
    defer { bytes = bytes.dropFirst(count) }
    return ByteString(Array(bytes.prefix(count)))
  }

  private static func number(from bytes: inout ArraySlice<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    for index in bytes.indices.prefix(8).reversed() { number = number << 8 | UInt64(bytes[index]) }
    bytes = bytes.dropFirst(8)
    return number
  }
}

/// The first 128 bits of a SHA-256 digest.
///
/// Texts of digests would take five times as much memory, and there may be millions.
struct PartDigest: Hashable {
  private(set) var (high, low): (UInt64, UInt64) = (0, 0)

  /// The digest of something that is missing.
  static let none = PartDigest()

  private init() {}

  /// Creates a digest from its two halves.
  init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates a digest from its hexadecimal digits, after `json ` if it is that of a JSON value.
  init(_ text: String) {
    let isJSON = text.hasPrefix("json ")
    for (index, character) in text.utf8.dropFirst(isJSON ? 5 : 0).prefix(32).enumerated() {
      let digit = UInt64(character & 0xF) + (character > 0x39 ? 9 : 0)
      if index < 16 { high = high << 4 | digit } else { low = low << 4 | digit }
    }
    // A body that is not JSON must never equal one that is.
    if isJSON { low = ~low }
  }

  /// Creates the digest of everything that was added to a hasher.
  init(_ digest: Digest) {
    for (index, byte) in digest.bytes.prefix(16).enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
  }
}

/// Bytes of which a digest is made: values with their lengths, so that moved boundaries change the digest.
struct DigestedBytes {
  // One buffer, because many short additions to a hasher are slow.
  private var bytes: [UInt8] = []

  /// The digest of all values.
  var digest: PartDigest {
    var digest = Digest()
    digest.update(bytes[...])
    return PartDigest(digest)
  }

  /// Adds a text.
  mutating func append(_ text: [UInt8]) {
    bytes.append(word: UInt64(text.count))
    bytes += text
  }

  /// Adds a number.
  mutating func append(_ number: UInt64) { bytes.append(word: number) }

  /// Adds a value of a column, with its storage class.
  // Not its description, which is found by reflection.
  mutating func append(_ value: RawResponse.Value) {
    switch value {
    case .null: append(0)
    case .integer(let number):
      append(1)
      append(UInt64(bitPattern: number))
    case .real(let number):
      append(2)
      append(number.bitPattern)
    case .text(let text):
      append(3)
      append(text.bytes)
    case .blob(let bytes):
      append(4)
      append(bytes)
    }
  }
}
