import Files
import JSON
import ResponseStorage

/// A HAR file of any program, read as a store.
///
/// Opening reads the whole file once, and keeps only the offset of each entry, so a HAR may be larger than memory.
final class HARArchive: ArchiveKind {
  static let name = "a HAR"

  /// The maximum nesting depth of the JSON. Chrome writes call stacks of scripts, which are deep.
  private static let deepest = 512
  let file: ArchiveFile
  let description: StoreDescription
  private let budget: HARBudget
  private let text: HARText
  private let index: HARIndex

  static func isArchive(_ file: ArchiveFile) -> Bool { HARText.isIn(file) }

  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    self.file = file
    budget = HARBudget(limits, path: file.path)
    text = try HARText(of: file, limits: limits)
    index = try HARIndex(
      of: Self.reader(of: text.bytes, in: text.start..<Int64.max), budget, text.attachments)
    description = StoreDescription(
      path: file.path, format: .archive, schemaVersion: nil, identity: file.status.identity,
      rawPropertyLists: RawResponse.Part.Name.allCases.filter { $0 != .body }.map(\.rawValue))
  }

  /// Returns a reader of a part of a file.
  private static func reader(of text: FileBytes, in part: Range<Int64>) -> JSONReader {
    JSONReader(startingAt: Int(part.lowerBound), deepest: deepest) { offset in
      let length = min(1 << 16, part.upperBound - Int64(offset))
      guard length > 0 else { return [] }
      var bytes = [UInt8](repeating: 0, count: Int(length))
      let count = try text.read(&bytes, Int64(offset))
      bytes.removeLast(bytes.count - count)
      return bytes
    }
  }

  var limits: ArchiveLimits { budget.limits }

  var rawLayout: RawLayout { .ofNewResponses }

  var omissions: [ArchiveOmission] { index.omissions }

  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    var json = Self.reader(of: text.bytes, in: 0..<Int64.max)
    for place in index.places {
      WorkCounter.add()
      guard try body(entry(at: place, &json)) == .next else { return }
    }
    if let damage = index.damage { throw damage }
  }

  func forEachEntry(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws {
    var json = Self.reader(of: text.bytes, in: 0..<Int64.max)
    var places = index.places[...]
    for number in numbers {
      places = places.drop { $0.number < number }
      guard let place = places.first, place.number == number else { continue }
      if try body(entry(at: place, &json)) == .stop { return }
    }
  }

  func count() throws -> Int64 {
    if let damage = index.damage { throw damage }
    return Int64(index.places.count)
  }

  private func entry(at place: HARIndex.Place, _ json: inout JSONReader) throws -> RawResponse {
    let changed = StoreError(
      .changedWhileReading, at: file.path, because: "an entry changed")
    json.move(to: Int(place.offset))
    var entry: HAREntry
    // The same bytes were read without an error when the file was opened, so it has changed since.
    do {
      entry = try HAREntry(reading: &json, budget, sizes: place.sizes)
    } catch is JSONError {
      throw changed
    }
    entry.attach(text.attachments)
    let body = entry.content?.body(file.path, text.attachments) { [text] in
      Self.reader(of: text.bytes, in: $0)
    }
    guard let response = entry.newResponse(body) else { throw changed }
    return response.raw(id: place.number)
  }
}
