import Dispatch
import Fetching
import Files

/// What this process writes, frame by frame, on a thread of its own, so that nobody waits for a slow reader.
final class FrameOutput: Sendable {
  private let queue = DispatchQueue(label: "FrameOutput")

  /// Writes a frame after those before it; ends the process if nobody reads it.
  func send(_ kind: Frame.Kind, _ number: UInt32, _ payload: [UInt8] = []) {
    // What an origin sends is never so long, unless it wants to do harm.
    let failure = FetchFailure(.tooLarge, "the head of the answer is too long")
    guard let frame = Frame(kind, number, payload) ?? Frame(.failure, number, failure.payload)
    else { CurrentProcess.end(with: 70) }
    queue.async {
      do { try StandardStream.output.write(frame.bytes) } catch { CurrentProcess.end(with: 74) }
    }
  }
}
