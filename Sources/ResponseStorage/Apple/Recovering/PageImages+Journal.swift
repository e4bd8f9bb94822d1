import Bytes
import Files
import SQLitePages

// The states of pages in the rollback journal.
extension PageImages {
  /// Reads which pages the journal has.
  func readJournal() throws(StoreError) {
    guard let journal else { return }
    do throws(FileError) {
      let start = try journal.file.read(RollbackJournal.headerLength, at: 0)
      guard let parsed = RollbackJournal(start.span, pageSize: header.pageSize),
        parsed.pageSize == header.pageSize
      else { return }
      let size = try journal.file.status().size.bytes
      var failure: FileError?
      let entries = try? parsed.entries(
        length: size, upTo: UInt32(Self.mostPages),
        afterHole: { journal.file.nextData(from: $0, size: size)?.lowerBound }
      ) {
        count, offset in
        do throws(FileError) { return try journal.file.read(count, at: offset) } catch {
          failure = error
          throw error
        }
      }
      if let failure { throw failure }
      add(entries ?? [], isHot: parsed.isHot)
      if parsed.isHot, parsed.pageCount > 0 {
        header.pageCount = min(parsed.pageCount, UInt32(Self.mostPages))
      }
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Adds the pages of a journal to the states of the pages.
  private func add(_ entries: [RollbackJournal.Entry], isHot: Bool) {
    // A hostile journal can have one page in all of its entries, so the states of a page are sorted once.
    var added: [UInt32: [Image]] = [:]
    for (number, entry) in entries.enumerated() {
      let time = Self.time(of: entry, isHot: isHot)
      // Of two entries for one page in one transaction, the first is the state before it. The entries of a
      // transaction follow each other.
      guard added[entry.page]?.last?.time != time else { continue }
      added[entry.page, default: []].append(
        Image(time: time, file: .journal, number: number + 1, offset: entry.offset))
    }
    for (page, images) in added {
      var others = self.images(of: page)
      // A hot journal has the present state, and the file below it one that is rolled back.
      if isHot, images.contains(where: { $0.time == 0 }) {
        for index in others.indices where others[index].file == .database {
          others[index].time = Self.uncommitted
        }
      }
      changed[page] = (images.reversed() + others).sorted { $0.time < $1.time }
    }
  }

  /// Returns the time of the state before the transaction that wrote an entry.
  private static func time(of entry: RollbackJournal.Entry, isHot: Bool) -> Int64 {
    if entry.transaction == 0 { return isHot ? 0 : beforeJournal }
    // Each earlier transaction is a generation of its own, of which it is not known what followed.
    return beforeJournal - Int64(min(entry.transaction, 1 << 31)) * (1 << 30) + 1
  }
}
