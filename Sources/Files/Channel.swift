import Dispatch
import Synchronization

/// A queue by which one thread hands values to another, which waits for them.
public final class Channel<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let arrivals = DispatchSemaphore(value: 0)

  /// Creates an empty channel.
  public init() {}

  /// Hands a value over; does nothing if the channel is closed.
  public func send(_ element: Element) {
    let isSent = state.withLock { state in
      if !state.isClosed { state.elements.append(element) }
      return !state.isClosed
    }
    if isSent { arrivals.signal() }
  }

  /// Ends the channel: what was sent before is still received, and then nothing.
  public func close() {
    state.withLock { $0.isClosed = true }
    arrivals.signal()
  }

  /// Waits for the next value; `nil` when there will be none.
  public func receive() -> Element? {
    arrivals.wait()
    let element = state.withLock { $0.elements.isEmpty ? nil : $0.elements.removeFirst() }
    // The signal of the end is for all who wait, now and later.
    if element == nil { arrivals.signal() }
    return element
  }
}
