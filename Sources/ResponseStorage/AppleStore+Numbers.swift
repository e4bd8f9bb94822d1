import SQLite

/// A source that finds responses by their numbers in nearly the time in which it walks over them.
public protocol NumberedResponseSource: ResponseSource {
  /// What of a response is found without decoding a property list, and so is little work for all of them.
  var cheapProjection: Projection { get }

  /// Calls `body` with each of some responses, in ascending order of their numbers.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - numbers: Those of the responses, in ascending order; one that no response has is left out.
  ///   - body: What to do with a response. Return ``ScanStep/stop`` to end the walk.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func forEachResponse(
    _ projection: Projection, numbered numbers: [Int64],
    _ body: (borrowing StoredResponse) throws -> ScanStep) throws
}

extension AppleStore: NumberedResponseSource {
  public var cheapProjection: Projection { [.key, .firstStored, .storage, .body, .file] }

  /// Across so many numbers it is less work to walk than to look for the next response.
  private static let shortestLeap: Int64 = 16

  public func forEachResponse(
    _ projection: Projection, numbered numbers: [Int64],
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    do {
      var scan = try AppleScan(snapshot.connection, layout, projection)
      var memory = StoredResponse.SpareMemory()
      var response = StoredResponse(id: .row(0))
      var rest = numbers[...]
      while let first = rest.first {
        let last = Self.endOfRun(in: rest)
        try scan.begin(in: first...last)
        while try scan.next(into: &response, reusing: &memory) {
          guard case .row(let row) = response.id else { continue }
          while let number = rest.first, number < row { rest.removeFirst() }
          guard rest.first == row else { continue }
          rest.removeFirst()
          if projection.contains(.body) {
            try bodies.examine(&response, in: layout.bodyTable, of: snapshot.connection)
          }
          if try body(response) == .stop { return }
        }
        while let number = rest.first, number <= last { rest.removeFirst() }
      }
    } catch let error as SQLiteError {
      throw try translated(error)
    } catch is DisorderedRows {
      throw StoreError(.damaged, at: files.path, because: "its rows are out of order")
    }
  }

  /// The last of the first numbers that are so close that it pays to walk from one to the next.
  private static func endOfRun(in numbers: ArraySlice<Int64>) -> Int64 {
    var last = numbers[numbers.startIndex]
    for number in numbers.dropFirst() {
      guard number.subtractingReportingOverflow(last).partialValue <= shortestLeap else { break }
      last = number
    }
    return last
  }
}
