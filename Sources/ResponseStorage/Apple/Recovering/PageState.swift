import SQLitePages

/// The pages of a database at a time.
struct PageState: PageReading {
  let images: PageImages
  let time: Int64
  /// Whether to read the pages after those that are read in the order of the file.
  var readsAhead = true

  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool {
    guard let (image, _) = images.image(of: page, at: time) else { return false }
    return try images.read(image, into: &buffer, ahead: readsAhead)
  }
}
