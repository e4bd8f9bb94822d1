/// A value that can be kept as bytes in a temporary file, which the same process reads again.
protocol Spoolable {
  /// Appends the value.
  func append(to bytes: inout [UInt8])

  /// Reads a value that ``append(to:)`` has written.
  init(reading bytes: inout SpooledBytes)
}
