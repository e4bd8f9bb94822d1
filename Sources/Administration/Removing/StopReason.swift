/// Why a command left the rest of what it was to do.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// A signal came that ends the process.
  case signal
  /// It had run for as long as it was to.
  case maxRuntime = "max-runtime"
}
