/// Why a command was stopped before it was done.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// A signal came that ends the process.
  case signal
  /// The time of `--max-runtime` was over.
  case maxRuntime = "max-runtime"
}
