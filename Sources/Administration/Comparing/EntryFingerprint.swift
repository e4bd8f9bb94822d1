import Bytes
import Files
import ResponseStorage
import SQLite

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

extension EntryFingerprint: ScratchRow {
  func pack(into values: inout PackedValues) {
    values.append(key)
    values.append(url == key)
    if url != key { values.append(url) { $0.append($1) } }
    values.append(id: id)
    for aspect in StoreComparison.Aspect.allCases {
      values.append(bits: digests[aspect].high)
      values.append(bits: digests[aspect].low)
    }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    key = try reader.text()
    url = try reader.flag() ? key : try reader.optionalText()
    id = try reader.id()
    for aspect in StoreComparison.Aspect.allCases {
      digests[aspect] = PartDigest(high: try reader.bits(), low: try reader.bits())
    }
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
