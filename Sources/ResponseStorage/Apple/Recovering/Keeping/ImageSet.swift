import SQLitePages

/// A set of states of pages, with one bit for each.
struct ImageSet {
  private var filePages: PageSet
  private var frames: PageSet
  private var journalPages: PageSet
  private let pageSize: Int

  /// Creates an empty set for the pages of files.
  init(of images: PageImages) {
    filePages = PageSet(upTo: images.filePageCount)
    let numbers = images.highestNumbers
    frames = PageSet(upTo: UInt32(clamping: numbers.frame))
    journalPages = PageSet(upTo: UInt32(clamping: numbers.journalPage))
    pageSize = images.header.pageSize
  }

  func contains(_ image: PageImages.Image) -> Bool {
    let number = number(of: image)
    return switch image.file {
    case .database: filePages.contains(number)
    case .log: frames.contains(number)
    case .journal: journalPages.contains(number)
    }
  }

  mutating func insert(_ image: PageImages.Image) {
    let number = number(of: image)
    switch image.file {
    case .database: filePages.insert(number)
    case .log: frames.insert(number)
    case .journal: journalPages.insert(number)
    }
  }

  /// Returns the number of a state in its file, from 1.
  private func number(of image: PageImages.Image) -> UInt32 {
    image.file == .database
      ? UInt32(clamping: image.offset / Int64(pageSize) + 1) : UInt32(clamping: image.number)
  }
}

extension PageImages {
  /// The pages that only the log or the journal has. Their numbers can be any, so they are in no set with bits.
  var pagesAfterEnd: [UInt32] { changed.keys.filter { $0 > filePageCount }.sorted() }

  /// The highest numbers of states in the log and in the journal.
  fileprivate var highestNumbers: (frame: Int, journalPage: Int) {
    var result = (frame: 0, journalPage: 0)
    for image in changed.values.lazy.joined() {
      switch image.file {
      case .database: break
      case .log: result.frame = max(result.frame, image.number)
      case .journal: result.journalPage = max(result.journalPage, image.number)
      }
    }
    return result
  }
}
