import Bytes
import Files
import ResponseArchives

/// Finds keys that several entries of an archive have.
struct RepeatedKeys {
  /// The key of an entry.
  private struct Key: Spoolable {
    var digest: TextDigest
    var number: Int64

    init(_ digest: TextDigest, of number: Int64) { (self.digest, self.number) = (digest, number) }

    func pack(into values: inout PackedValues) {
      values.append(digest: digest)
      values.append(number)
    }

    init(from reader: inout PackedReader) throws(PackedReader.Failure) {
      digest = try reader.digest()
      number = try reader.number()
    }
  }

  private var keys: SpooledSort<Key>

  /// - Parameter temporaryFolder: The folder for an unnamed file, which many keys need.
  init(temporaryFolder: String) {
    keys = SpooledSort(in: temporaryFolder) { $0.digest.precedes($1.digest) }
  }

  /// Adds the key of an entry. Entries must be added in their order.
  mutating func insert(_ digest: TextDigest, of number: Int64) throws(FileError) {
    try keys.insert(Key(digest, of: number))
  }

  /// Removes all keys, and returns the number of the first entry that has the key of an earlier one.
  mutating func removeAll() throws(FileError) -> Int64? {
    var keys = try keys.removeAll()
    var (earlier, first): (TextDigest?, Int64?) = (nil, nil)
    while let key = try keys.next() {
      if key.digest == earlier { first = min(first ?? key.number, key.number) }
      earlier = key.digest
    }
    return first
  }
}

extension TextDigest {
  /// Whether the digest comes before another one, in any fixed order.
  func precedes(_ other: TextDigest) -> Bool { (high, low) < (other.high, other.low) }
}
