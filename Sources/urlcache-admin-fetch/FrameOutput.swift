import Dispatch
import Fetching
import Files

/// What this process writes, frame by frame, on a thread of its own.
///
/// Sending never waits, so that no lock is held for a slow reader. Whoever has a body to send waits for room first: that
/// bounds what is here.
final class FrameOutput: Sendable {
  private struct Load {
    /// The bytes that are not written yet.
    var bytes = 0

    /// When there was last no room.
    var lastFull: ContinuousClock.Instant?

    var isFull: Bool { bytes >= FrameOutput.most }
  }

  /// With so many bytes that wait for the reader there is no room.
  private static let most = 1 << 20

  private let queue = DispatchQueue(label: "FrameOutput")
  private let load = Monitor(Load())

  /// Writes a frame after those before it; ends the process if nobody reads it.
  func send(_ kind: Frame.Kind, _ number: UInt32, _ payload: [UInt8] = []) {
    // What an origin sends is never so long, unless it wants to do harm.
    let failure = FetchFailure(.tooLarge, "the head of the answer is too long")
    guard let frame = Frame(kind, number, payload) ?? Frame(.failure, number, failure.payload)
    else { CurrentProcess.end(with: 70) }
    let bytes = frame.bytes
    load.update { $0.bytes += bytes.count }
    queue.async { [load] in
      do { try StandardStream.output.write(bytes) } catch { CurrentProcess.end(with: 74) }
      load.update { load in
        if load.isFull { load.lastFull = .now }
        load.bytes -= bytes.count
      }
    }
  }

  /// Waits until the reader has taken enough of what was sent.
  func waitForRoom() {
    load.wait(until: { !$0.isFull }) { _ in }
  }

  /// When there was last no room, so that no origin could be heard; now, if there is none.
  var lastFull: ContinuousClock.Instant? {
    load.wait(until: { _ in true }) { $0.isFull ? .now : $0.lastFull }
  }
}
