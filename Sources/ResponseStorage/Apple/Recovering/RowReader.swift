import Bytes
import PropertyLists
import SQLitePages

/// Reads the payloads of rows in any state of a database, and checks that they are rows of a cache.
final class RowReader {
  /// The longest row of property lists that is read.
  static let longestLists = 1 << 24

  /// The longest body that is compared with others as a whole.
  private static let longestCompared = 1 << 26

  let images: PageImages
  /// The pages that the present state of the database uses.
  var claimed: PageSet
  /// The overflow pages of rows that were found.
  private(set) var visited: ImageSet
  private var digests: BodyDigests?
  private var buffer: [UInt8] = []

  /// How many overflow pages may still be read: hostile rows can all refer to one long chain.
  private var budget: Int

  /// How a row was found, which decides when the chain of its overflow pages can be trusted.
  enum Trust {
    /// The row exists in that state of the database.
    case row
    /// The row was removed at some time before.
    case remains
  }

  init(_ images: PageImages) {
    self.images = images
    visited = ImageSet(of: images)
    claimed = PageSet(upTo: images.highestPage)
    budget = 8 * images.imageCount + 10_000
  }

  /// Calls `body` with each piece of the overflow pages of a payload.
  ///
  /// - Returns: Whether the chain is complete.
  func forEachOverflow(
    of payload: Payload, at time: Int64, _ trust: Trust,
    _ body: (PageImages.Image, [UInt8], Range<Int>) throws -> Bool
  ) throws -> Bool {
    var chain = OverflowChain(of: payload, usableSize: images.header.usableSize)
    while chain.remaining > 0, budget > 0,
      let (image, isCertain) = images.image(of: chain.page, at: time)
    {
      // A page that the database uses again has other content by now, and one whose state at the time is lost may have.
      if !isCertain
        || trust == .remains && image == images.image(of: chain.page)
          && claimed.contains(chain.page)
      {
        return false
      }
      budget -= 1
      guard try images.read(image, into: &buffer) else { return false }
      let page = buffer
      guard let range = chain.advance(over: page.span),
        range.upperBound <= images.length(of: image), try body(image, page, range)
      else { return false }
    }
    return chain.isComplete
  }

  /// Reads a row.
  ///
  /// - Parameters:
  ///   - page: The page with its cell.
  ///   - limit: The most bytes to read of its payload.
  func content(
    _ row: FoundRow, in page: [UInt8], upTo limit: Int = longestLists
  ) throws -> RowContent? {
    let known = AppleRecordShapes.all[row.shape]
    // The zeros after the end of a file that is cut belong to no row.
    guard row.payload.local.upperBound <= min(page.count, images.length(of: row.image)),
      let header = row.header
        ?? RecordHeader(
          page.span, at: row.payload.local.lowerBound, before: row.payload.local.upperBound)
    else { return nil }
    var content = RowContent(
      header: header, bytes: Array(page[row.payload.local]),
      isComplete: row.payload.local.count == row.payload.size, columns: known.columns)
    if row.payload.firstOverflowPage != 0 {
      guard row.payload.size <= limit else {
        content.isComplete = false
        return content
      }
      content.isComplete = try forEachOverflow(of: row.payload, at: row.image.time, trust(in: row))
      {
        _, page, range in
        content.bytes += page[range]
        return true
      }
    }
    return content
  }

  /// Reads a row that was found before.
  func content(_ row: FoundRow, upTo limit: Int = longestLists) throws -> RowContent? {
    var page: [UInt8] = []
    guard try images.read(row.image, into: &page) else { return nil }
    return try content(row, in: page, upTo: limit)
  }

  private func trust(in row: FoundRow) -> Trust { row.hasKnownTime ? .row : .remains }

  /// Checks that a record is a row of a cache, and notes what it is about.
  ///
  /// - Parameter isCertain: Whether the record was found by the structure of its page, and not by its looks.
  /// - Returns: A digest of all its values, or `nil` if it is no such row.
  func examine(_ row: inout FoundRow, in page: [UInt8], isCertain: Bool) throws -> Int? {
    let table = row.table
    if let id = row.id, id <= 0 { return nil }
    guard
      let content = try content(row, in: page, upTo: table == .bodies ? 0 : Self.longestLists)
    else { return nil }
    switch table {
    case .responses:
      guard case .text(let key)? = content.value("request_key"), Self.isPlain(key) else {
        return nil
      }
      let time: Timestamp? =
        if case .text(let text)? = content.value("time_stamp") {
          Timestamp(databaseText: text.bytes.span)
        } else { nil }
      guard isCertain || time != nil && Self.isURL(key) else { return nil }
      row.text = key
      row.stored = time?.secondsSince1970 ?? -.infinity
    case .keys:
      guard case .text(let key)? = content.value("request_key"), Self.isPlain(key),
        Self.isURL(key), case .integer(let id)? = content.value("entry_ID"), id > 0
      else { return nil }
      row.text = key
      row.id = id
    case .blobs:
      return try examineLists(&row, content)
    case .bodies:
      guard isCertain || row.id != nil else { return nil }
      if case .integer(let flag)? = content.value("isDataOnFS"), flag > 0 {
        guard case .text(let name)? = content.value("receiver_data"), UUIDBytes(name.bytes) != nil
        else { return nil }
      } else {
        row.bodySize = content.range(of: "receiver_data").map { ByteCount($0.count) }
      }
      return try digestOfBody(&row, content)
    }
    return digest(of: content)
  }

  /// Checks the property lists of a row.
  private func examineLists(_ row: inout FoundRow, _ content: RowContent) throws -> Int? {
    var raw = RawResponse(id: 1)
    raw.append(content)
    // The property list has a URL and a time, which no other bytes have by chance.
    guard let bytes = raw.part(.responseObject)?.content?.bytes,
      let response = Self.decoded(raw, .responseObject), let url = response.url, Self.isURL(url)
    else { return nil }
    let request = Self.decoded(raw, .requestObject)
    row.text = request?.request.url ?? url
    row.stored = response.stored?.secondsSince1970 ?? -.infinity
    row.isWhole = content.isComplete && request != nil
    row.bodySize = Self.statedSize(bytes) ?? response.statedSize
    // The response alone: copies of one row can have lost the rest on different overflow pages.
    var hasher = Hasher()
    hasher.combine(ByteString(bytes))
    return hasher.finalize()
  }

  /// Returns the length of the body that a response states.
  private static func statedSize(_ bytes: [UInt8]) -> ByteCount? {
    do throws(PropertyListError) {
      let list = try BinaryPropertyList(bytes.span)
      guard let array = try list.archivedElements() else { return nil }
      return try list.integer(5, of: array).map { ByteCount($0) }
    } catch {
      return nil
    }
  }

  /// Whether a text is one that CFNetwork can have written: it escapes all other characters of a URL.
  private static func isPlain(_ text: ByteString) -> Bool {
    text.string != nil && text.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  /// Decodes one property list of a row; `nil` if it cannot be decoded.
  private static func decoded(
    _ raw: RawResponse, _ part: RawResponse.Part.Name
  ) -> StoredResponse? {
    let all: Projection = [.url, .stored, .status, .requestDetails, .responseHeaders, .mimeType]
    var only = RawResponse(id: 1)
    only.parts = raw.parts.filter { $0.name == part }
    let response = StoredResponse(decoding: only, all)
    return response.fields.notes.contains { $0.code == .undecodable } ? nil : response
  }

  /// Whether a text has a scheme, as all URLs of a cache have.
  static func isURL(_ text: ByteString) -> Bool {
    let colon = text.bytes.firstIndex(of: UInt8(ascii: ":"))
    guard let colon, colon > 0, colon < 32, text.bytes.count > colon + 1 else { return false }
    return text.bytes[..<colon].allSatisfy {
      $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: ".")
    }
  }

  /// Returns a digest of the values without the header, which can be overwritten.
  private func digest(of content: RowContent) -> Int {
    var hasher = Hasher()
    for value in content.header.values.dropFirst(content.columns[0] == "entry_ID" ? 1 : 0) {
      hasher.combine(value.type)
    }
    hasher.combine(ByteString(Array(content.bytes.dropFirst(content.header.length))))
    return hasher.finalize()
  }

  private func digestOfBody(_ row: inout FoundRow, _ content: RowContent) throws -> Int? {
    guard row.payload.firstOverflowPage != 0,
      let first = images.image(of: row.payload.firstOverflowPage, at: row.image.time)
    else { return digest(of: content) }
    // A page of rows is in the log many times, and so is each long body in it. Each is read once.
    let digests = try self.digests ?? BodyDigests()
    self.digests = digests
    let key = BodyDigests.Key(
      local: ByteString(Array(content.bytes.dropFirst(content.header.length))).digest,
      overflow: first.image)
    if let known = try digests.digest(of: key) {
      row.isWhole = known.isComplete
      return known.digest
    }
    var hasher = Hasher()
    hasher.combine(digest(of: content))
    var count = 0
    var pages: [PageImages.Image] = []
    let isComplete = try forEachOverflow(of: row.payload, at: row.image.time, trust(in: row)) {
      image, page, range in
      hasher.combine(ByteString(Array(page[range])))
      count += range.count
      pages.append(image)
      return count < Self.longestCompared
    }
    hasher.combine(isComplete)
    if isComplete { for image in pages { visited.insert(image) } }
    let result = hasher.finalize()
    try digests.add(key, result, isComplete: isComplete)
    row.isWhole = isComplete
    return result
  }

  /// Forgets which bodies were found, as soon as no more rows are looked for.
  func forgetBodies() { digests = nil }

  /// Notes the overflow pages of a row, which contain nothing else.
  func visit(_ row: FoundRow) throws {
    guard row.payload.firstOverflowPage != 0, row.table != .bodies else { return }
    var pages: [PageImages.Image] = []
    let isComplete = try forEachOverflow(of: row.payload, at: row.image.time, trust(in: row)) {
      image, _, _ in
      pages.append(image)
      return true
    }
    if isComplete { for image in pages { visited.insert(image) } }
  }
}

extension StoredResponse {
  /// The length of the body that the header fields state, if it was not encoded.
  fileprivate var statedSize: ByteCount? {
    guard responseHeaders?.firstValue(named: "content-encoding") == nil,
      let text = responseHeaders?.firstValue(named: "content-length")?.string
    else { return nil }
    return Int64(text).map { ByteCount($0) }
  }
}

extension RawResponse {
  /// Adds the property lists of a row.
  mutating func append(_ content: RowContent) {
    for name in Part.Name.allCases where name != .body {
      guard content.columns.contains(name.rawValue) else { continue }
      if case .blob(let bytes)? = content.value(name.rawValue) {
        parts.append(Part(name, Body(bytes)))
      } else {
        parts.append(Part(name, nil))
      }
    }
  }
}
