import Bytes
import Files

/// The result of an import.
public struct ImportResult {
  /// An entry that was not imported because the cache had changed since the plan was made.
  struct Entry: Spoolable {
    /// Its number in the archive.
    var number: Int64
  }

  /// Those entries, in the order of the archive.
  let entries: SpooledList<Entry>

  /// The number of entries that were not imported because the cache had changed since the plan was made.
  public var changed: Int { entries.count }

  /// Creates the result of a complete import.
  public init() { entries = SpooledList() }

  init(_ entries: SpooledList<Entry>) { self.entries = entries }
}

extension ImportResult.Entry {
  func pack(into values: inout PackedValues) { values.append(number) }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    number = try reader.number()
  }
}
