public import Bytes

/// The size of a store on disk.
public struct Footprint: Hashable, Sendable {
  /// The length of the database file.
  public var databaseBytes: ByteCount = 0
  /// The length of the write-ahead log.
  public var walBytes: ByteCount = 0
  /// The length of the log's index.
  public var shmBytes: ByteCount = 0
  /// The change in the length of the database file once all of the log is checkpointed.
  public var growthBytes: ByteCount = 0
  /// The lengths of all regular files in the folder of body files, including orphans. In a Foundation
  /// store, of all files that `URLCache` counts, which are those with the name of a stored response.
  public var bodyFilesBytes: ByteCount = 0
  /// The size of the free pages of the database.
  public var freeBytes: ByteCount = 0
  /// The number of orphans in the folder of body files. In a Foundation store, of the files that `URLCache`
  /// neither counts nor removes.
  public var orphanFiles: Int64 = 0
  /// The lengths of those files.
  public var orphanBytes: ByteCount = 0
  /// The space that the file system allocates for all of these files.
  public var allocatedBytes: ByteCount = 0
  /// The size of the database without entries: a page for its header and for each table and index.
  public var emptyBytes: ByteCount = 0
  /// The page size of the database.
  public var pageBytes: ByteCount = 0

  /// Creates an empty footprint.
  public init() {}

  /// The total length of all files, which `URLCache` compares with its disk capacity; the largest number
  /// if the sum overflows.
  // CFNetwork counts the log and its index, too. So its usage does not shrink when an entry is
  // removed, until a checkpoint and a vacuum.
  public var totalBytes: ByteCount {
    [walBytes, shmBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }

  /// The bytes in the file after the end of the database, which a crash can leave. A checkpoint cuts them off, so
  /// there are none if there is a log.
  public var tailBytes: ByteCount { walBytes == 0 ? max(0, -growthBytes) : 0 }

  /// The total length of all files once no process has the store open: the last one to close it removes
  /// the log. An app that was killed leaves its log behind, which is no reason to remove entries.
  // A limit near the size of a log once made `enforce` remove all entries of a cache, and the log
  // stayed.
  public var closedBytes: ByteCount {
    [growthBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }
}
