import Bytes
import Files
import SQLitePages

// The states of pages in the write-ahead log.
extension PageImages {
  /// Reads the headers of all frames of the log.
  func readLog() throws(StoreError) {
    guard let log else { return }
    do throws(FileError) {
      let start = try log.file.read(WriteAheadLog.headerLength, at: 0)
      let logHeader = WriteAheadLog(start.span)
      let hasLogHeader = logHeader != nil
      var frames = logHeader ?? WriteAheadLog(pageSize: header.pageSize)
      guard frames.pageSize == header.pageSize else { return }
      let size = try log.file.status().size.bytes
      let count = Int(clamping: (size - Int64(start.count)) / Int64(frames.frameLength))
      guard count > 0 else { return }
      var buffer = [UInt8](repeating: 0, count: frames.frameLength)
      var waiting: [(page: UInt32, image: Image)] = []
      var salt = frames.salt
      var windows = PageWindows()
      var number = 0
      while number < count {
        number += 1
        let offset = frames.offset(ofFrame: number)
        guard try windows.read(from: log.file, at: offset, into: &buffer) == buffer.count else {
          break
        }
        let next = frames.next(buffer.span, at: 0)
        // The first zeros end a generation; more of them say nothing.
        if next == nil, let data = log.file.nextData(from: offset, size: size) {
          let skipped = Int((data.lowerBound - offset) / Int64(frames.frameLength)) - 1
          if skipped > 0 { number += frames.skip(skipped) }
        } else if next == nil {
          number = count
        }
        if next?.salt != salt {
          add(waiting, at: nil)
          waiting = []
        }
        guard let frame = next else { continue }
        salt = frame.salt
        let isCurrent = frame.check == .current
        // Transactions of one generation are in the order of their frames, and each generation has a higher number.
        var time = Int64(number)
        if frame.salt != frames.salt || !hasLogHeader {
          time += min(Self.age(of: frame.salt, before: frames.salt), -1) * (1 << 30)
        } else if !isCurrent {
          time += Self.uncommitted
        }
        waiting.append(
          (
            frame.page,
            Image(
              time: time, file: .log, number: number,
              offset: offset + Int64(WriteAheadLog.frameHeaderLength))
          ))
        guard frame.pageCount > 0 else { continue }
        add(waiting, at: time)
        waiting = []
        if isCurrent {
          now = time
          header.pageCount = min(frame.pageCount, UInt32(Self.mostPages))
        }
      }
      // The frames of a transaction that was never committed.
      add(
        waiting.map { waiting in
          var waiting = waiting
          if waiting.image.time > 0, waiting.image.time < Self.uncommitted {
            waiting.image.time += Self.uncommitted
          }
          return waiting
        }, at: nil)
    } catch {
      throw StoreError(error, path: error.path)
    }
    try addFilePages()
  }

  /// Returns how many generations of a log lie between two, negative for an earlier one.
  private static func age(of salt: WriteAheadLog.Salt, before present: WriteAheadLog.Salt) -> Int64
  {
    // The number continues with 0 after its largest value.
    let difference = Int64(salt.first) - Int64(present.first)
    if difference > Int64(Int32.max) { return difference - (1 << 32) }
    return difference < Int64(Int32.min) ? difference + (1 << 32) : difference
  }

  /// Returns the time up to which the log knows what followed a state: the end of its generation.
  ///
  /// What the next generation wrote first is overwritten by later ones.
  static func end(ofGenerationOf time: Int64) -> Int64 {
    if time >= 0 || time == beforeJournal { return time == beforeJournal ? 0 : .max }
    return (time / (1 << 30)) * (1 << 30)
  }

  private func add(_ images: [(page: UInt32, image: Image)], at time: Int64?) {
    for (page, image) in images {
      var image = image
      image.time = time ?? image.time
      changed[page, default: []].append(image)
    }
  }

  /// Adds the states of the changed pages in the database file, below the log.
  private func addFilePages() throws(StoreError) {
    var (below, frame): ([UInt8], [UInt8]) = ([], [])
    var copied: Set<UInt32> = []
    // A checkpoint has copied the pages that are equal to a frame of the present generation.
    for (page, images) in changed {
      guard let file = fileImage(of: page), try read(file, into: &below) else { continue }
      for image in images.reversed() where image.time > 0 && !copied.contains(page) {
        if try read(image, into: &frame), frame == below { copied.insert(page) }
      }
    }
    // A transaction can write a page as it was. So a checkpoint is sure only if it has copied all of the first
    // transaction.
    let first = changed.values.lazy.flatMap { $0 }.map(\.time).filter { $0 > 0 }.min()
    let isCheckpointed = changed.allSatisfy { page, images in
      copied.contains(page) || !images.contains { $0.time == first }
    }
    for (page, images) in changed {
      var images = images
      if let file = fileImage(of: page), !isCheckpointed || !copied.contains(page) {
        images.append(file)
      }
      changed[page] = images.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
    }
  }
}
