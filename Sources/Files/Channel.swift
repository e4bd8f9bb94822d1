/// A queue through which one thread sends values to another, which waits for them.
public final class Channel<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  private let monitor = Monitor(State())

  /// Creates an empty channel.
  public init() {}

  /// Sends a value; does nothing if the channel is closed.
  public func send(_ element: Element) {
    monitor.update { state in
      // A consumer that has found what it needs closes the channel, and its producers may still be
      // at work.
      if !state.isClosed { state.elements.append(element) }
    }
  }

  /// Closes the channel. Values sent before can still be received.
  public func close() {
    monitor.update { $0.isClosed = true }
  }

  /// Closes the channel, and drops the values that were not received.
  public func cancel() {
    monitor.update { $0 = State(isClosed: true) }
  }

  /// Returns the next value, if there is one already.
  public func receiveNow() -> Element? {
    monitor.withLock { $0.elements.isEmpty ? nil : $0.elements.removeFirst() }
  }

  /// Waits for the next value; `nil` if the channel is closed and empty.
  public func receive() -> Element? {
    monitor.wait(until: { !$0.elements.isEmpty || $0.isClosed }) { state in
      state.elements.isEmpty ? nil : state.elements.removeFirst()
    }
  }
}
