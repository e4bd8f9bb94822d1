import Bytes
import Files

/// The intent of this command, which goes with its owner once all that it says is done.
final class OpenIntent {
  private let folder: Directory
  private let file: HeldFile
  private let header: [UInt8]
  private let report: @Sendable (FileError?) -> Void
  /// How long the text is.
  private var length: ByteCount = 0
  /// Whether the name of the file is on the disk.
  private var hasLastingName = false
  /// Whether something that it says is not done.
  private var isOpen = false
  /// Whether something that it says could not be done.
  private var isKept = false
  /// Whether nothing can be noted any more.
  private var hasFailed = false

  /// How long the text may become before it is begun again.
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
    if !isOpen, !isKept { try? folder.remove(file.name) }
  }

  /// Notes files that go once the responses that name them are gone, and waits until that is on the disk.
  func note(_ files: [Intent.RemovedFile]) {
    attempt { () throws(FileError) in
      try append(files.flatMap(Intent.line))
      try synchronizeAll()
    }
  }

  /// Notes a file that no response names yet.
  func note(added name: ByteString) {
    attempt { () throws(FileError) in try append(Intent.line(added: name)) }
  }

  /// Waits until what was noted is on the disk.
  func synchronize() {
    attempt { () throws(FileError) in try synchronizeAll() }
  }

  /// Takes note that all is done.
  func settle() { isOpen = false }

  /// Takes note that all of a batch is done, and that nothing else was noted.
  func settleBatch() {
    settle()
    guard !isKept, length > Self.longestText else { return }
    attempt { () throws(FileError) in
      try file.setLength(0)
      length = 0
    }
  }

  /// Takes note that something could not be done, and is left to the next command.
  func keep() { isKept = true }

  private func append(_ lines: [UInt8]) throws(FileError) {
    isOpen = true
    let text = length == 0 ? header + lines : lines
    try file.append(text)
    length += ByteCount(text.count)
  }

  private func synchronizeAll() throws(FileError) {
    try file.synchronize()
    if !hasLastingName { try folder.synchronize() }
    hasLastingName = true
  }

  /// Does what notes something. A failure is reported, and then nothing more is noted: to keep a user from
  /// making room would be worse than body files that a check finds.
  private func attempt(_ body: () throws(FileError) -> Void) {
    guard !hasFailed else { return }
    do throws(FileError) { try body() } catch {
      hasFailed = true
      report(error)
    }
  }
}
