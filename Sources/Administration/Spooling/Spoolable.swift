import Bytes

/// A value that can be kept as bytes in a temporary file, which the same process reads again.
protocol Spoolable {
  /// Adds the value to others.
  func pack(into values: inout PackedValues)

  /// How many bytes of texts it has.
  var textBytes: Int { get }

  /// Reads a value that ``pack(into:)`` has written.
  init(from reader: inout PackedReader) throws(PackedReader.Failure)
}

extension Spoolable {
  var textBytes: Int { 0 }
}
