import Bytes
import Files

/// The intent of this command. Its file is removed when this object is, if everything in it is done.
final class OpenIntent {
  private let folder: Directory
  private let file: HeldFile
  private let header: [UInt8]
  private let report: @Sendable (FileError?) -> Void
  /// The length of the text.
  private var length: ByteCount = 0
  /// Whether the name of the file is on disk.
  private var hasLastingName = false
  /// Whether something in it is not done yet.
  private var isOpen = false
  /// Whether something in it could not be done.
  private var isKept = false
  /// Whether recording has failed, so that nothing more is recorded.
  private var hasFailed = false

  /// The length of the text from which it is started again after a batch.
  private static let longestText = ByteCount(1 << 20)

  init(
    _ place: Intent.Place, _ folder: consuming Directory, _ file: consuming HeldFile,
    _ report: @escaping @Sendable (FileError?) -> Void
  ) {
    header = Intent.header(place)
    self.folder = folder
    self.file = file
    self.report = report
  }

  deinit {
    // A process that is killed never gets here, and its file stays.
    if !isOpen, !isKept { try? folder.remove(file.name) }
  }

  /// Records files that are removed after the responses that refer to them, and waits until the record is on disk.
  func note(_ files: [Intent.RemovedFile]) {
    attempt { () throws(FileError) in
      try append(files.flatMap(Intent.line))
      try synchronizeAll()
    }
  }

  /// Records a file to which no response refers yet.
  func note(added name: ByteString) {
    attempt { () throws(FileError) in try append(Intent.line(added: name)) }
  }

  /// Records that something is about to be done to the place, and waits until the record is on disk.
  func notePlace() {
    attempt { () throws(FileError) in
      try append([])
      try synchronizeAll()
    }
  }

  /// Waits until the record is on disk.
  func synchronize() {
    attempt { () throws(FileError) in try synchronizeAll() }
  }

  /// Marks everything as done.
  func settle() { isOpen = false }

  /// Marks a batch as done, if nothing else was recorded.
  func settleBatch() {
    settle()
    guard !isKept, length > Self.longestText else { return }
    attempt { () throws(FileError) in
      // Start again, so that the file of a long removal does not grow without limit.
      try file.setLength(0)
      length = 0
    }
  }

  /// Marks something as impossible, so that the intent is left to the next command.
  func keep() { isKept = true }

  private func append(_ lines: [UInt8]) throws(FileError) {
    isOpen = true
    let text = length == 0 ? header + lines : lines
    try file.append(text)
    length += ByteCount(text.count)
  }

  private func synchronizeAll() throws(FileError) {
    try file.synchronize()
    // After a power failure, a file whose name is not on disk is lost, however often its bytes were
    // synced.
    if !hasLastingName { try folder.synchronize() }
    hasLastingName = true
  }

  /// Runs a recording step. A failure is reported once, and then nothing more is recorded: preventing a user from
  /// freeing space would be worse than orphans, which a check finds.
  private func attempt(_ body: () throws(FileError) -> Void) {
    guard !hasFailed else { return }
    do throws(FileError) { try body() } catch {
      hasFailed = true
      report(error)
    }
  }
}
