import Administration
import Bytes
import Fetching
import HTTPCaching
import ResponseStorage

// A request as bytes, to keep it in a temporary database.
extension ValidationRequest {
  /// Adds the request to values.
  func pack(into values: inout PackedValues) {
    values.append(version: version)
    values.append(url) { $0.append($1) }
    values.append(bodySize) { $0.append($1.bytes) }
    values.append(exchange) { $0.append(exchange: $1) }
    switch request {
    case .success(let request):
      values.append(true)
      values.append(request.payload)
    case .failure(let error):
      values.append(false)
      values.append(choice: error.skipReason)
    }
    values.append(sent: sent)
    values.append(asksForRest)
    values.append(start) {
      $0.append(pieces: $1.pieces)
      $0.append($1.size.bytes)
      $0.append(fields: $1.fields)
    }
    values.append(mayBeRewritten)
    values.append(choice: credentials)
  }

  /// Reads a request that was packed.
  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    version = try reader.version()
    url = try reader.optionalText()
    bodySize = try reader.optionalNumber().map { ByteCount($0) }
    exchange = try reader.optional { reader throws(PackedReader.Failure) in try reader.exchange() }
    if try reader.flag() {
      guard let sent = FetchRequest(payload: try reader.data()) else {
        throw PackedReader.Failure()
      }
      request = .success(sent)
    } else {
      request = .failure(SkippedError(skipReason: try reader.choice()))
    }
    sent = try reader.sent()
    asksForRest = try reader.flag()
    start = try reader.optional { reader throws(PackedReader.Failure) in
      StoredStart(
        pieces: try reader.pieces(), size: ByteCount(try reader.number()),
        fields: try reader.fields())
    }
    mayBeRewritten = try reader.flag()
    credentials = try reader.choice()
  }
}
