/// A queue by which one thread hands values to another, which waits for them.
public final class Channel<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  private let monitor = Monitor(State())

  /// Creates an empty channel.
  public init() {}

  /// Hands a value over; does nothing if the channel is closed.
  public func send(_ element: Element) {
    monitor.update { state in
      if !state.isClosed { state.elements.append(element) }
    }
  }

  /// Ends the channel: what was sent before is still received, and then nothing.
  public func close() {
    monitor.update { $0.isClosed = true }
  }

  /// Waits for the next value; `nil` when there will be none.
  public func receive() -> Element? {
    monitor.wait(until: { !$0.elements.isEmpty || $0.isClosed }) { state in
      state.elements.isEmpty ? nil : state.elements.removeFirst()
    }
  }
}
