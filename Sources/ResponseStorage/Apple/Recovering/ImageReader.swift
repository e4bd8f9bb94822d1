import Files
import SQLitePages

/// Reads pages from the files of a database, in any of their states. Each thread has one of its own.
struct ImageReader: Sendable {
  let database: PageFile
  /// The log, or a copy of it.
  let log: PageFile?
  let journal: PageFile?
  let pageSize: Int

  /// Whether to read the pages after those that are read in the order of the file.
  var readsAhead = true

  private var windows = PageWindows()

  init(
    database: PageFile, log: PageFile?, journal: PageFile?, pageSize: Int, readsAhead: Bool = true
  ) {
    self.database = database
    self.log = log
    self.journal = journal
    self.pageSize = pageSize
    self.readsAhead = readsAhead
  }

  /// Reads a page. A page that is cut ends with zeros.
  ///
  /// - Returns: `false` if the file ends before it.
  mutating func read(
    _ image: PageImages.Image, into buffer: inout [UInt8]
  ) throws(StoreError) -> Bool {
    if buffer.count != pageSize { buffer = [UInt8](repeating: 0, count: pageSize) }
    do throws(FileError) {
      var count = 0
      switch image.file {
      case .database where readsAhead:
        count = try windows.read(from: database.file, at: image.offset, into: &buffer)
      case .database: count = try database.file.read(pageSize, at: image.offset, into: &buffer)
      case .log: count = try log?.file.read(pageSize, at: image.offset, into: &buffer) ?? 0
      case .journal: count = try journal?.file.read(pageSize, at: image.offset, into: &buffer) ?? 0
      }
      for index in count..<pageSize { buffer[index] = 0 }
      return count > 0
    } catch {
      throw StoreError(error, path: error.path)
    }
  }
}
