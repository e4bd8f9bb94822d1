public import Bytes

/// What a store takes up on disk.
public struct Footprint: Hashable, Sendable {
  /// The length of the database file.
  public var databaseBytes: ByteCount = 0
  /// The length of the write-ahead log.
  public var walBytes: ByteCount = 0
  /// The length of the log's index.
  public var shmBytes: ByteCount = 0
  /// What the database file gets longer by, or shorter, once all of the log is in it.
  public var growthBytes: ByteCount = 0
  /// The lengths of all regular files below the folder of body files, orphans included; in a Foundation
  /// store, of all that `URLCache` counts: whatever has the name of a stored response.
  public var bodyFilesBytes: ByteCount = 0
  /// The free pages of the database.
  public var freeBytes: ByteCount = 0
  /// The number of files in the folder of body files that no response names; in a Foundation store, of
  /// those that `URLCache` neither counts nor removes.
  public var orphanFiles: Int64 = 0
  /// The lengths of those files.
  public var orphanBytes: ByteCount = 0
  /// What the file system charges for all of these files.
  public var allocatedBytes: ByteCount = 0
  /// What the database takes up without an entry: a page for its header and for each table and index.
  public var emptyBytes: ByteCount = 0
  /// The length of a page of the database.
  public var pageBytes: ByteCount = 0

  /// Creates a footprint of nothing.
  public init() {}

  /// The lengths of all files, which is what `URLCache` holds against its disk capacity; the
  /// largest number if no number can hold them.
  public var totalBytes: ByteCount {
    [walBytes, shmBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }

  /// What the database file is longer than the database in it, as a crash leaves it; whoever copies a log into the
  /// file cuts that off.
  public var tailBytes: ByteCount { walBytes == 0 ? max(0, -growthBytes) : 0 }

  /// The lengths of all files once nobody has the store open, as whoever closes it last takes the log
  /// away.
  public var closedBytes: ByteCount {
    [growthBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }
}
