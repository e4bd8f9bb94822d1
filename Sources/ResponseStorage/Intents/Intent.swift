import Bytes
import Files

/// A record of what a command is about to do to files of a store, so that the next command can finish it if
/// this one is killed.
///
/// The text has one line for each file:
///
///     urlcache-admin intent 1
///     apple 2049 131313 /Users/me/Library/Caches/com.example.app/fsCachedData
///     removes 0D3F2C1A-… 131314 1700000000000000000 20480
///     adds 7E6B5A49-…
///
/// The record need not be trusted: before the next command removes anything, it checks each file and whether
/// the store refers to it.
struct Intent: Hashable {
  /// The kind of files.
  enum Kind: String {
    /// Body files of an Apple store.
    case apple
    /// Temporary files of a Foundation store.
    case foundation
    /// Files of `Blobs` in a WebKit cache.
    case webkit
    /// No files: what removed responses left in a database is about to be overwritten.
    case erasure
  }

  /// The folder of the files, or a database.
  struct Place: Hashable {
    /// The kind of files.
    var kind: Kind
    /// The device and inode of the folder or database.
    var identity: [UInt64]
    /// The absolute path of the folder or database, percent-escaped.
    var path: [UInt8]

    /// Describes a folder; `nil` if it does not exist.
    init?(_ kind: Kind, _ path: String) {
      guard let status = try? FileStatus.of(path), status.kind == .directory else { return nil }
      self.init(kind, status.identity, absolutePath(path))
    }

    /// Describes a database in which removed responses are about to be overwritten; `nil` if it does not exist.
    init?(erasureOf path: String) {
      guard let status = try? FileStatus.of(path), status.kind == .regular else { return nil }
      self.init(.erasure, status.identity, absolutePath(path))
    }

    init(_ kind: Kind, _ identity: [UInt64], _ path: String) {
      self.kind = kind
      self.identity = identity
      // A path can contain spaces and line ends, which separate words and lines here.
      self.path = path.utf8.percentEscaped { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    }

    fileprivate init(_ kind: Kind, _ identity: [UInt64], escaped path: [UInt8]) {
      self.kind = kind
      self.identity = identity
      self.path = path
    }

    /// Whether both are the same folder or database. The number of a device can change after a restart.
    func isSame(as other: Place) -> Bool {
      kind == other.kind
        // An inode alone is not enough, as another file system can have the same one; so the path
        // must match, too.
        && (identity == other.identity
          || identity.last == other.identity.last && path == other.path)
    }
  }

  /// A file of a response, which is about to be removed.
  struct RemovedFile: Hashable {
    var name: ByteString
    var version: FileVersion
  }

  /// The folder of the files.
  var place: Place
  /// Files that are removed after the responses that refer to them.
  var removed: [RemovedFile] = []
  /// Files to which no response refers yet, or of which an unknown part is overwritten.
  var added: [ByteString] = []

  /// Creates an intent.
  init(place: Place, removed: [RemovedFile] = [], added: [ByteString] = []) {
    (self.place, self.removed, self.added) = (place, removed, added)
  }

  /// The first line of every intent.
  private static let mark = Array("urlcache-admin intent 1".utf8)

  /// Returns the text of an intent without files.
  static func header(_ place: Place) -> [UInt8] {
    let identity = place.identity.map { "\($0)" }.joined(separator: " ")
    return mark + Array("\n\(place.kind.rawValue) \(identity) ".utf8) + place.path + [newline]
  }

  /// Returns the line for a file that is about to be removed.
  static func line(_ file: RemovedFile) -> [UInt8] {
    Array("removes ".utf8) + file.name.bytes
      + Array(" \(file.version.number) \(file.version.modified) \(file.version.size)\n".utf8)
  }

  /// Returns the line for a file that is about to be added.
  static func line(added name: ByteString) -> [UInt8] {
    Array("adds ".utf8) + name.bytes + [newline]
  }

  /// Whether a text ends within its header, because its command was killed before it changed anything.
  static func isCutShort(_ text: [UInt8]) -> Bool {
    let start = mark + [newline]
    guard text.count > start.count else { return start.starts(with: text) }
    return text.starts(with: start) && !text[start.count...].contains(newline)
  }

  /// Parses a text. Its last line may be incomplete, in which case that change had not begun.
  ///
  /// - Returns: `nil` if it is not an intent, or not of this version.
  init?(reading text: [UInt8]) {
    var lines = text.split(separator: newline, omittingEmptySubsequences: false)[...]
    // What follows the last line feed is an incomplete line, or empty.
    lines.removeLast()
    guard lines.popFirst()?.elementsEqual(Self.mark) == true,
      let place = lines.popFirst().flatMap({ Place(reading: $0) })
    else { return nil }
    self.place = place
    for line in lines {
      let words = line.split(separator: space, omittingEmptySubsequences: false)
      switch (String(decoding: words[0], as: UTF8.self), words.count) {
      case ("adds", 2): added.append(ByteString(Array(words[1])))
      case ("removes", 5):
        guard let number: UInt64 = integer(words[2]), let modified: Int64 = integer(words[3]),
          let length: Int64 = integer(words[4])
        else { return nil }
        removed.append(
          RemovedFile(
            name: ByteString(Array(words[1])),
            version: FileVersion(number: number, modified: modified, size: ByteCount(length))))
      // A record of a later version may mean something else by words that we know, so nothing of it
      // is used.
      default: return nil
      }
    }
  }
}

extension Intent.Place {
  fileprivate init?(reading line: ArraySlice<UInt8>) {
    let words = line.split(separator: space, omittingEmptySubsequences: false)
    guard words.count == 4,
      let kind = Intent.Kind(rawValue: String(decoding: words[0], as: UTF8.self)),
      let device: UInt64 = integer(words[1]), let number: UInt64 = integer(words[2])
    else { return nil }
    self.init(kind, [device, number], escaped: Array(words[3]))
  }
}

private let newline = UInt8(ascii: "\n")
private let space = UInt8(ascii: " ")

private func integer<Integer: FixedWidthInteger>(_ digits: ArraySlice<UInt8>) -> Integer? {
  Integer(String(decoding: digits, as: UTF8.self))
}

/// A record that removed responses are about to be overwritten, so that the same command does that if this one is killed
/// after it has removed them.
public final class ErasureRecord {
  private let intent: OpenIntent
  private let folder: IntentFolder
  private let place: Intent.Place
  private let now: Timestamp

  fileprivate init(
    _ intent: OpenIntent, _ folder: IntentFolder, _ place: Intent.Place, _ now: Timestamp
  ) {
    (self.intent, self.folder, self.place, self.now) = (intent, folder, place, now)
    intent.notePlace()
  }

  /// Removes the record and those of killed commands, because everything was overwritten.
  public func finish() {
    replaceOthers()
    intent.settle()
  }

  /// Removes the records of other commands that have ended: this one says the same.
  public func replaceOthers() {
    _ = folder.forEachLeftBehind(about: place, at: now) { _ in true }
  }
}

extension StoreOpening {
  /// Records that removed responses are about to be overwritten.
  ///
  /// - Returns: The record; `nil` if nothing of them would remain in a database, or nothing can be recorded.
  public func beginErasure() -> ErasureRecord? {
    guard let intents, let place = erasurePlace, let intent = intents.begin(place) else {
      return nil
    }
    return ErasureRecord(intent, intents, place, now)
  }

  /// Whether a command may have been killed, or stopped, before everything that it removed was overwritten.
  public func mayHaveUnfinishedErasure() -> Bool {
    guard let place = erasurePlace else { return false }
    // Without a folder for records, nobody knows.
    guard let intents, intents.isUsable else { return true }
    var isFound = false
    _ = intents.forEachLeftBehind(about: place, at: now) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  private var erasurePlace: Intent.Place? {
    do throws(StoreError) { return try kind().erasurePlace(at: path) } catch { return nil }
  }
}

/// The result of finishing what killed commands had begun on a store.
public struct FinishedIntents: Hashable, Sendable {
  /// Whether the files are orphans; otherwise they were being written.
  public var areBodyFiles = false
  /// The number of removed files.
  public var removedFiles = 0
  /// The number of files that could not be removed and are left to the next command.
  public var remainingFiles = 0
  /// The number of intents that could not be read and were removed.
  public var damagedIntents = 0
  /// Why something is left to the next command; `nil` if nothing is.
  public var failure: StoreError?

  /// Creates an empty result.
  public init() {}
}

/// A store whose commands record which files they are about to change.
protocol IntentStore: ResponseStore {
  /// Finishes an intent, as far as it is not done.
  ///
  /// A file is removed only if the store does not need it, and only if it is the same file as when the intent
  /// was recorded.
  ///
  /// - Returns: Whether the intent can be removed.
  func finish(_ intent: Intent, into finished: inout FinishedIntents) throws(StoreError) -> Bool
}

extension StoreOpening {
  /// Removes the files that killed commands have left behind.
  ///
  /// Never throws: what cannot be done now is left to the next command, and opening the store will report why it
  /// cannot be opened.
  public func finishIntents() -> FinishedIntents {
    var finished = FinishedIntents()
    guard let intents else { return finished }
    // Try every kind: a half-created store is not yet recognized as one.
    for kind in Self.kinds {
      guard let place = kind.intentPlace(at: path) else { continue }
      var store: (any IntentStore)?
      let damaged = intents.forEachLeftBehind(about: place, at: now) { intent in
        do throws(StoreError) {
          if store == nil {
            // Opened for the first intent and not before: mostly there is none, and opening takes
            // locks.
            store = try kind.changing(self, verifying: false)
          }
          guard let store else { return false }
          return try store.finish(intent, into: &finished)
        } catch {
          finished.failure = error
          return false
        }
      }
      finished.damagedIntents += damaged
    }
    return finished
  }
}
