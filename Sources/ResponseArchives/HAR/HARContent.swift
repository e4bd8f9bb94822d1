import Bytes
import JSON
import ResponseStorage

/// The location and size of a response body in a HAR file.
struct HARContent {
  /// How a string encodes bytes.
  enum Coding {
    /// As UTF-8.
    case text
    case base64
    case unknown
  }

  /// The sizes of a string, which are known once it was read. They take few bytes, because an index has those of all
  /// entries.
  struct Sizes {
    /// Where the string is in the file, with its quotes.
    var place: Range<Int64> = 0..<0
    /// The size of the string in UTF-8, in bytes.
    var text: ByteCount = 0
    /// ``decoded``, or -1 for `nil`: an optional would take a word more.
    private var decodedOrNone: Int64 = 0

    /// The size of the decoded Base64, in bytes; `nil` if the string is not Base64.
    var decoded: ByteCount? {
      get { decodedOrNone < 0 ? nil : ByteCount(decodedOrNone) }
      set { decodedOrNone = newValue?.bytes ?? -1 }
    }
  }

  /// The sizes of the string.
  private(set) var sizes = Sizes()
  /// How the string encodes the body.
  var coding = Coding.text

  /// The name of the file with the body, if it is not in the HAR.
  private(set) var file: ByteString?

  /// Creates content that is in a file.
  init(file: ByteString, size: ByteCount) {
    self.file = file
    sizes.text = size
  }

  /// The size of the body, in bytes; `nil` if the string cannot be decoded.
  var bodySize: ByteCount? {
    switch coding {
    case .text: sizes.text
    case .base64: sizes.decoded
    case .unknown: nil
    }
  }

  /// Skips a string whose sizes are known.
  ///
  /// - Throws: ``JSONError``.
  init(skipping json: inout JSONReader, _ sizes: Sizes) throws {
    self.sizes = sizes
    if Int64(try json.beginningOfValue()) == sizes.place.lowerBound {
      try json.skipString(endingAt: Int(sizes.place.upperBound))
    } else {
      // Of several members with one name, the last one counts.
      try json.skip()
    }
  }

  /// Reads a string and keeps only its size: both as text and as Base64, since `encoding` may follow `text`.
  ///
  /// - Throws: ``JSONError``, or ``ResponseArchiveError`` if it is beyond the member limit.
  init(measuring json: inout JSONReader, _ budget: HARBudget) throws {
    let start = Int64(try json.beginningOfValue())
    var measure: Base64.Measure? = Base64.Measure()
    var text: [UInt8] = []
    try json.beginString()
    // Piece by piece: the text of one body may be larger than memory.
    while case let goesOn = try json.continueString(into: &text), goesOn || !text.isEmpty {
      sizes.text += ByteCount(text.count)
      try budget.limits.check(sizes.text, .member, at: budget.path)
      if measure?.add(text) == false { measure = nil }
      text.removeAll(keepingCapacity: true)
      if !goesOn { break }
    }
    sizes.place = start..<Int64(json.offset)
    sizes.decoded = measure?.count.map { ByteCount($0) }
  }

  /// Returns a body that is read from the file on demand; `nil` if the string cannot be decoded.
  ///
  /// - Parameter reader: Creates a reader of a part of the file.
  func body(
    _ path: String, _ attachments: HARAttachments,
    readingBy reader: @escaping (Range<Int64>) -> JSONReader
  ) -> Body? {
    guard let bodySize else { return nil }
    if bodySize == 0 { return Body([]) }
    let place = sizes.place
    var body = Body(size: bodySize) {
      if let file { return try attachments.open(file) }
      let reading = HARContentReading(reader(place), isBase64: coding == .base64, path)
      return BodyReader(size: bodySize) { try reading.read(into: &$0) }
    }
    body.isVerified = true
    return body
  }
}

/// One read of a body from start to end.
private final class HARContentReading {
  private var json: JSONReader
  private var decoder: Base64.Decoder?
  private let path: String
  private var hasBegun = false
  private var hasEnded = false

  /// Decoded bytes that were not returned yet.
  private var bytes: [UInt8] = []
  private var index = 0

  init(_ json: JSONReader, isBase64: Bool, _ path: String) {
    self.json = json
    self.path = path
    decoder = isBase64 ? Base64.Decoder() : nil
  }

  /// Reads the next bytes into the front of an array. Returns the number of bytes, 0 at the end.
  func read(into buffer: inout [UInt8]) throws(StoreError) -> Int {
    while index == bytes.count, !hasEnded {
      do { try readOn() } catch {
        throw StoreError(.changedWhileReading, at: path, because: "a body changed")
      }
    }
    let count = min(buffer.count, bytes.count - index)
    buffer.replaceSubrange(0..<count, with: bytes[index..<index + count])
    index += count
    return count
  }

  private func readOn() throws {
    if !hasBegun { try json.beginString() }
    hasBegun = true
    (bytes, index) = ([], 0)
    var text: [UInt8] = []
    // A string with escapes comes in short pieces, and each call from outside has a cost.
    while !hasEnded, text.count < 1 << 15 { hasEnded = try !json.continueString(into: &text) }
    guard decoder != nil else {
      bytes = text
      return
    }
    let isBase64 = decoder?.decode(text, into: &bytes) ?? false
    if hasEnded, let decoder { _ = decoder.finish(into: &bytes) }
    guard isBase64 else { throw JSONError("not Base64", at: json.offset) }
  }
}
