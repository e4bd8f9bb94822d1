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
  // RFC 8259 §8.1 lets a parser ignore the mark, and some programs on Windows write it.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  let file: ArchiveFile
  let description: StoreDescription
  private let budget: HARBudget
  private let index: HARIndex

  static func isArchive(_ file: ArchiveFile) -> Bool {
    let text = file.start.dropFirst(file.start.starts(with: byteOrderMark) ? 3 : 0)
    return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
  }

  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    self.file = file
    budget = HARBudget(limits, path: file.path)
    let start = file.start.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    index = try HARIndex(of: Self.reader(of: file, from: Int64(start)), budget)
    description = StoreDescription(
      path: file.path, format: .archive, schemaVersion: nil, identity: file.status.identity,
      rawPropertyLists: RawResponse.Part.Name.allCases.filter { $0 != .body }.map(\.rawValue))
  }

  private static func reader(of file: ArchiveFile, from offset: Int64) -> JSONReader {
    var place = offset
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    return JSONReader(startingAt: Int(offset), deepest: deepest) {
      let count = try file.read(into: &buffer, at: place)
      place += Int64(count)
      return Array(buffer[..<count])
    }
  }

  var limits: ArchiveLimits { budget.limits }

  var rawLayout: RawLayout { .ofNewResponses }

  var omissions: [ArchiveOmission] { index.omissions }

  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    for place in index.places {
      WorkCounter.add()
      guard try body(entry(at: place)) == .next else { return }
    }
    if let damage = index.damage { throw damage }
  }

  func forEachEntry(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws {
    var places = index.places[...]
    for number in numbers {
      places = places.drop { $0.number < number }
      guard let place = places.first, place.number == number else { continue }
      if try body(entry(at: place)) == .stop { return }
    }
  }

  func count() throws -> Int64 {
    if let damage = index.damage { throw damage }
    return Int64(index.places.count)
  }

  private func entry(at place: HARIndex.Place) throws -> RawResponse {
    let changed = StoreError(
      .changedWhileReading, at: file.path, because: "an entry changed")
    var json = Self.reader(of: file, from: place.offset)
    let entry: HAREntry
    // The same bytes were read without an error when the file was opened, so it has changed since.
    do {
      entry = try HAREntry(reading: &json, budget, sizes: place.sizes)
    } catch is JSONError {
      throw changed
    }
    let body = entry.content?.body(file.path) { [file] in Self.reader(of: file, from: $0) }
    guard let response = entry.newResponse(body) else { throw changed }
    return response.raw(id: place.number)
  }
}
