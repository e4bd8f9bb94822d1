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

  /// Has those responses taken in by portions that they want.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response that is wanted.
  ///   - little: What to decode of each response for ``ResponsePortion/choose(_:)``; best nothing but what is in
  ///     ``cheapProjection``.
  ///   - portion: What every portion starts as.
  ///   - order: The order of the portions.
  ///   - body: What to do with a portion, on the thread of the caller. It is filled again then, and should be
  ///     empty.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func forEachPortion<Portion: ResponsePortion>(
    _ projection: Projection, choosingBy little: Projection, startingWith portion: Portion,
    in order: PortionOrder, _ body: (inout Portion) throws -> ScanStep) throws
}

extension NumberedResponseSource {
  public func forEachPortion<Portion: ResponsePortion>(
    _ projection: Projection, choosingBy little: Projection, startingWith portion: Portion,
    in order: PortionOrder, _ body: (inout Portion) throws -> ScanStep
  ) throws {
    try forEachPortionOfTwoWalks(projection, choosingBy: little, startingWith: portion, body)
  }

  /// Has one portion choose among all responses, and then take in what it has chosen, on this thread.
  func forEachPortionOfTwoWalks<Portion: ResponsePortion>(
    _ projection: Projection, choosingBy little: Projection, startingWith portion: Portion,
    _ body: (inout Portion) throws -> ScanStep
  ) throws {
    var (portion, step) = (portion, ScanStep.next)
    var wanted: [Int64] = []
    try forEachResponse(little) { response in
      if case .row(let number) = response.id, portion.choose(response) { wanted.append(number) }
      return .next
    }
    try forEachResponse(projection, numbered: wanted) { response in
      var response = copy response
      portion.take(&response)
      if portion.isFull { step = try body(&portion) }
      return step
    }
    if step == .next { _ = try body(&portion) }
  }
}

extension AppleStore: NumberedResponseSource {
  public var cheapProjection: Projection { [.key, .firstStored, .storage, .body, .file] }

  public func forEachResponse(
    _ projection: Projection, numbered numbers: [Int64],
    _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try scan(projection, { $0.begin(at: numbers) }) { try body($0) }
  }

  public func forEachPortion<Portion: ResponsePortion>(
    _ projection: Projection, choosingBy little: Projection, startingWith portion: Portion,
    in order: PortionOrder, _ body: (inout Portion) throws -> ScanStep
  ) throws {
    guard
      let scan = parallelScan(
        projection, choosingBy: little, startingWith: portion, in: order, byteLimit: .max)
    else {
      return try forEachPortionOfTwoWalks(
        projection, choosingBy: little, startingWith: portion, body)
    }
    try translatingErrors { try scan.forEachPortion(body) }
  }
}
