import SQLitePages

/// The pages of a database at a time. Each thread has a copy of its own.
struct PageState: PageReading, Sendable {
  var reader: ImageReader
  /// The states of the pages that have several.
  let changed: [UInt32: PageImages.Image]
  let filePageCount: UInt32

  /// Returns the state of a page; `nil` if there is no such page.
  func image(of page: UInt32) -> PageImages.Image? {
    if !changed.isEmpty, let image = changed[page] { return image }
    guard page >= 1, page <= filePageCount else { return nil }
    return PageImages.Image(ofFilePage: page, size: reader.pageSize)
  }

  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool {
    guard let image = image(of: page) else { return false }
    return try reader.read(image, into: &buffer)
  }
}
