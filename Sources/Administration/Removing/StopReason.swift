/// Why a command was stopped before it was done.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// A terminating signal arrived.
  case signal
  /// The time limit of `--max-runtime` was reached.
  case maxRuntime = "max-runtime"
}
