import ResponseStorage

/// A response all of which is in memory, so that another thread can have it.
///
/// What only one thread may have of a response is a part that is read piece by piece, and there is none here.
struct WholeResponse: @unchecked Sendable {
  /// The response.
  let raw: RawResponse

  /// The number of bytes of its parts.
  let byteCount: Int

  /// Takes a response over; `nil` if a part of it is to be read piece by piece.
  init?(_ raw: RawResponse) {
    var byteCount = 0
    // A loop over the array would hold on to the bytes of each.
    let parts = raw.parts.span
    for index in parts.indices {
      switch parts[index].contents {
      case .null: break
      case .bytes(let bytes): byteCount += bytes.count
      case .stream: return nil
      }
    }
    self.raw = raw
    self.byteCount = byteCount
  }
}
