import Bytes
import Files
import SQLite

/// A reader of the digests of entries of an Apple store, in the order of `entry_ID`.
struct AppleContentReader: ~Copyable {
  /// The longest body that is read whole.
  private static let largestBody = ByteCount(1 << 18)

  private var responses: AppleRows
  private var blobs: AppleRows
  private var bodies: AppleRows?
  private let files: AppleBodyFiles
  /// The values of an entry, each after its type and length. Its memory is reused.
  private var content: [UInt8] = []

  /// Prepares a reader, which ``begin(in:)`` starts.
  ///
  /// - Parameters:
  ///   - path: The path of the folder of body files.
  ///   - readsBodies: Whether the digests include the bodies.
  init(
    _ connection: borrowing Connection, _ layout: AppleLayout, bodiesAt path: String,
    readingBodies readsBodies: Bool
  ) throws(SQLiteError) {
    let names = try AppleRawRows.columns(of: AppleLayout.responses, connection)
    let hasVersion = names.contains { ByteString($0).asciiLowercased == "version" }
    func part(_ name: String, upTo largest: ByteCount) -> AppleRows.Column {
      let expression = AppleRawRows.expression(name, upTo: largest)
      return .init(expression: expression, bounded: expression)
    }
    // The columns that a comparison of decoded entries uses, too.
    let responses = try AppleRows(
      [
        .init("request_key"), .init("time_stamp"), .init("storage_policy"),
        hasVersion ? .init("version") : nil, layout.hasPartition ? .init("partition") : nil,
      ], of: AppleLayout.responses, connection)
    let blobs = try AppleRows(
      AppleRawRows.parts.map { part($0.rawValue, upTo: RawResponse.largestList) },
      of: AppleLayout.blobs, connection)
    var bodies: AppleRows?
    if readsBodies {
      let location = layout.hasBodyFiles ? "isDataOnFS > 0" : "0"
      let body = part("receiver_data", upTo: Self.largestBody).expression
      let value = "CASE WHEN \(location) THEN receiver_data ELSE \(body) END"
      bodies = try AppleRows(
        [
          .init(expression: location, bounded: location),
          .init(expression: value, bounded: value),
        ], of: layout.bodyTable, connection)
    }
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
    files = AppleBodyFiles(at: path)
  }

  /// Starts with the first entry with an id in `range`.
  mutating func begin(in range: ClosedRange<Int64>) throws {
    try responses.begin(in: range)
    try blobs.begin(in: range)
    try bodies?.begin(in: range)
  }

  /// Returns the next entry; `nil` at the end.
  mutating func next() throws -> DigestedEntry? {
    let id = min(responses.id, blobs.id, bodies?.id ?? .max)
    let hasResponse = responses.isAt(id)
    let hasBlobs = blobs.isAt(id)
    let hasBody = bodies?.isAt(id) ?? false
    guard hasResponse || hasBlobs || hasBody else { return nil }
    content.removeAll(keepingCapacity: true)
    // Entries without a key in text are compared by their URLs, for which they must be decoded.
    var isComparable =
      hasResponse && hasBlobs && (hasBody || bodies == nil) && responses.type(at: 1) == .text
      && !responses.isCut
    if isComparable {
      for column in 1...5 as ClosedRange<Int32> { content.append(responses, at: column) }
      for column in 1...Int32(AppleRawRows.parts.count) {
        // A text stands for a value that is not read here.
        isComparable = isComparable && blobs.type(at: column) != .text
        content.append(blobs, at: column)
      }
    }
    if isComparable, hasBody { isComparable = try appendBody() }
    let digest = isComparable ? ContentDigest(of: content) : nil
    if hasResponse { try responses.advance() }
    if hasBlobs { try blobs.advance() }
    if hasBody { try bodies?.advance() }
    return DigestedEntry(id: id, digest: digest)
  }

  /// Appends the body, and returns whether it was read.
  private mutating func appendBody() throws -> Bool {
    let name: [UInt8]
    switch bodies {
    case .none: return false
    case .some(let bodies):
      guard bodies.integer(at: 1) != 0 else {
        guard bodies.type(at: 2) != .text else { return false }
        content.append(bodies, at: 2)
        return true
      }
      name = bodies.bytes(at: 2)
    }
    var reader: BodyReader
    // A missing file is found again when the entry is read for a comparison.
    do throws(StoreError) { reader = try files.open(ByteString(name)) } catch { return false }
    guard reader.size <= Self.largestBody else { return false }
    let body = try reader.readAll()
    content.append(1)
    content.append(number: UInt64(body.count))
    content += body
    return true
  }
}

extension [UInt8] {
  /// Appends a value with its type and length, so that no two lists of values have the same bytes.
  fileprivate mutating func append(_ rows: borrowing AppleRows, at column: Int32) {
    let type = rows.type(at: column)
    switch type {
    case .null: append(0)
    case .integer:
      append(2)
      append(number: UInt64(bitPattern: rows.integer(at: column)))
    case .real:
      append(3)
      append(number: rows.real(at: column).bitPattern)
    case .text, .blob:
      append(type == .blob ? 1 : 4)
      rows.withBytes(at: column) { bytes in
        append(number: UInt64(bytes.count))
        append(addingCapacity: bytes.count) { (output: inout OutputSpan<UInt8>) in
          output.append(bytes)
        }
      }
    }
  }

  /// Appends the bytes of a number, the lowest first.
  fileprivate mutating func append(number: UInt64) {
    append(addingCapacity: 8) { (output: inout OutputSpan<UInt8>) in
      for shift in stride(from: 0, to: 64 as UInt64, by: 8) {
        output.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
  }
}
