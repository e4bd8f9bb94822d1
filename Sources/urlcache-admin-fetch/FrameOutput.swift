import Dispatch
import Fetching
import Files

/// Writes frames to standard output on a background thread.
///
/// Sending never blocks, so that no lock is held while the reader is slow. Senders of bodies wait for room first,
/// which bounds the memory for pending frames.
final class FrameOutput: Sendable {
  private struct Load {
    /// The number of bytes that are not written yet.
    var bytes = 0

    /// The last time at which the output was full.
    var lastFull: ContinuousClock.Instant?

    var isFull: Bool { bytes >= FrameOutput.most }
  }

  /// The number of pending bytes at which the output is full.
  private static let most = 1 << 20

  private let queue = DispatchQueue(label: "FrameOutput")
  private let load = Monitor(Load())

  /// Queues a frame; exits if the reader has closed the pipe.
  func send(_ kind: Frame.Kind, _ number: UInt32, _ payload: [UInt8] = []) {
    // Only a hostile origin sends a head that exceeds a frame.
    let failure = FetchFailure(.tooLarge, "the response headers are too long")
    guard let frame = Frame(kind, number, payload) ?? Frame(.failure, number, failure.payload)
    else { CurrentProcess.end(with: 70) }
    let bytes = frame.bytes
    load.update { $0.bytes += bytes.count }
    queue.async { [load] in
      // `EX_IOERR`. The other process has gone, and nobody is left to tell.
      do { try StandardStream.output.write(bytes) } catch { CurrentProcess.end(with: 74) }
      load.update { load in
        if load.isFull { load.lastFull = .now }
        load.bytes -= bytes.count
      }
    }
  }

  /// Waits until the output is no longer full.
  func waitForRoom() {
    load.wait(until: { !$0.isFull }) { _ in }
  }

  /// The last time at which the output was full and no data could arrive; now, if it still is.
  var lastFull: ContinuousClock.Instant? {
    load.wait(until: { _ in true }) { $0.isFull ? .now : $0.lastFull }
  }
}
