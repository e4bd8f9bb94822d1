import Bytes
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
