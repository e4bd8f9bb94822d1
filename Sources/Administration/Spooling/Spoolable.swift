/// A value that can be kept as bytes in a temporary file, which the same process reads again.
protocol Spoolable {
  /// Appends the value.
  func append(to bytes: inout [UInt8])

  /// How many bytes of texts it has.
  var textBytes: Int { get }

  /// Reads a value that ``append(to:)`` has written.
  init(reading bytes: inout SpooledBytes)
}

extension Spoolable {
  var textBytes: Int { 0 }
}
