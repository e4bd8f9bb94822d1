import Bytes
import ResponseArchives
import ResponseStorage

/// The body of an entry in a batch, the end of which may not have arrived yet.
final class ArrivingBody {
  private let content: EntryBatch.Content
  private var piece: ArraySlice<UInt8> = []
  private let receive: () -> EntryInput?
  /// Whether the end has not been received.
  private(set) var isArriving = false

  init(
    _ content: EntryBatch.Content, of batch: EntryBatch,
    receiving receive: @escaping () -> EntryInput?
  ) {
    (self.content, self.receive) = (content, receive)
    switch content {
    case .missing, .failure: break
    case .bytes(let range): piece = batch.bytes[range]
    case .start(let range): (piece, isArriving) = (batch.bytes[range], true)
    }
  }

  /// The body for a search.
  var scanned: ScannedBody {
    ScannedBody { [self] search in
      switch content {
      case .missing: return false
      case .failure(let error): throw error
      case .bytes, .start: break
      }
      // A long body needs a buffer of the usual length, whatever its size.
      let size = isArriving ? ByteCount.max : ByteCount(piece.count)
      var reader = BodyReader(size: size) { [self] in try read(into: &$0) }
      try search(&reader)
      return true
    }
  }

  /// Receives the rest without looking at it.
  func skipRest() {
    piece = []
    while isArriving { _ = try? receiveNext() }
  }

  private func read(into buffer: inout [UInt8]) throws -> Int {
    while piece.isEmpty {
      guard isArriving else { return 0 }
      try receiveNext()
    }
    let part = piece.prefix(buffer.count)
    buffer.replaceSubrange(0..<part.count, with: part)
    piece = piece.dropFirst(part.count)
    return part.count
  }

  private func receiveNext() throws {
    switch receive() {
    case .piece(let bytes)?: piece = bytes[...]
    case .end(let error)?:
      isArriving = false
      if let error { throw error }
    // Only if the threads are ended, so that nobody asks for the result.
    case .batch?, nil: isArriving = false
    }
  }
}
