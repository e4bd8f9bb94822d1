import Administration
import Bytes
import Fetching
import ResponseStorage

// An entry as bytes, to keep it in a temporary database.
extension RevalidationPlan.Entry {
  /// Adds the entry to values.
  func pack(into values: inout PackedValues) {
    values.append(version: version)
    values.append(url == version.key)
    if url != version.key { values.append(url) { $0.append($1) } }
    values.append(bodySize) { $0.append($1.bytes) }
    values.append(wasAsked)
    values.append(sent: sent)
    values.append(choice: credentials)
    values.append(response) { $0.append(response: $1) }
    values.append(choice: outcome)
    values.append(decider) { $0.append(choice: $1) }
    values.append(reason) { $0.append(reason: $1) }
    values.append(joined) {
      $0.append(pieces: $1.pieces)
      $0.append($1.keptSize.bytes)
      $0.append($1.size.bytes)
    }
    values.append(misfit) { $0.append(choice: $1) }
    values.append(savedBytes.bytes)
    values.append(choice: action)
    values.append(skipReason) { $0.append(choice: $1) }
  }

  /// Reads an entry that was packed.
  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    typealias Failure = PackedReader.Failure
    let version = try reader.version()
    let url = try reader.flag() ? version.key : try reader.optionalText()
    self.init(
      version: version, url: url,
      bodySize: try reader.optionalNumber().map { ByteCount($0) },
      wasAsked: try reader.flag(), sent: try reader.sent(),
      credentials: try reader.choice(),
      response: try reader.optional { reader throws(Failure) in try reader.response() },
      outcome: try reader.choice(),
      decider: try reader.optional { reader throws(Failure) in try reader.choice() },
      reason: try reader.optional { reader throws(Failure) in try reader.reason() },
      joined: try reader.optional { reader throws(Failure) in
        JoinedBody(
          pieces: try reader.pieces(), keptSize: ByteCount(try reader.number()),
          size: ByteCount(try reader.number()))
      },
      misfit: try reader.optional { reader throws(Failure) in try reader.choice() },
      savedBytes: ByteCount(try reader.number()), action: try reader.choice(),
      skipReason: try reader.optional { reader throws(Failure) in try reader.choice() })
  }
}

extension PackedValues {
  /// Appends the reason of an outcome.
  fileprivate mutating func append(reason: ValidationResult.Reason) {
    switch reason {
    case .status: append(0)
    case .contradiction: append(1)
    case .skipReason(let skipReason):
      append(2)
      append(choice: skipReason)
    case .failure(let failure):
      append(3)
      append(failure.payload)
    }
  }
}

extension PackedReader {
  /// Reads the reason of an outcome.
  fileprivate mutating func reason() throws(Failure) -> ValidationResult.Reason {
    switch try number() {
    case 0: return .status
    case 1: return .contradiction
    case 2: return .skipReason(try choice())
    default:
      guard let failure = FetchFailure(payload: try data()) else { throw Failure() }
      return .failure(failure)
    }
  }
}
