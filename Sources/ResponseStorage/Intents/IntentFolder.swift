import Bytes
public import Files

/// A folder in which commands record the files of a store that they are about to remove or add, so that the
/// next command can finish what a killed one has begun. Only this user can create files in it.
public struct IntentFolder: Sendable {
  /// The path of the folder, which need not exist; `nil` if this user has no place for one.
  let path: String?
  /// Called with the reason why nothing can be recorded.
  let report: @Sendable (FileError?) -> Void

  /// The prefix of the names of all intents.
  private static let prefix = "intent-"
  /// The most bytes that are read of an intent; a batch has at most about 20 MB.
  private static let largestText = ByteCount(1 << 26)
  /// The most intents that are read, so that a flooded folder does not stop a command.
  private static let mostFiles = 10_000
  /// How long an intent is kept for the next command on its cache, in seconds.
  // The caches of a simulator or of a removed disk may never come back, and their intents would
  // pile up.
  private static let longestWait = 90 * 86_400.0

  /// Describes a folder, without creating it.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the folder; `nil` if this user has no place for one.
  ///   - report: Called with the reason why nothing can be recorded, which is not an error of a command; `nil` if
  ///     there is no place for the folder.
  public init(at path: String?, report: @escaping @Sendable (FileError?) -> Void) {
    self.path = path
    self.report = report
  }

  /// Whether commands of this user can record intents, so that those of killed commands are in the folder.
  var isUsable: Bool {
    guard let path else { return false }
    do throws(FileError) {
      try Directory(path).requirePrivate()
      return true
    } catch {
      // It is created for the first intent.
      return error.kind == .notFound
    }
  }

  /// Creates an intent.
  func begin(_ place: Intent.Place) -> OpenIntent? {
    guard let path else {
      report(nil)
      return nil
    }
    do throws(FileError) {
      try Directory.createWithParents(path)
      let folder = try Directory(path)
      // In a shared folder, another user could plant intents that remove files of this user.
      try folder.requirePrivate()
      let random = String(UInt64.random(in: 0 ... .max), radix: 36)
      let file = try HeldFile(
        // Not in the cache: CFNetwork counts every file in `fsCachedData` against its capacity, and
        // never removes one that no row names.
        creating: "\(Self.prefix)\(CurrentProcess.number)-\(random)", in: folder)
      return OpenIntent(place, folder, file, report)
    } catch {
      // The caller goes on without a record, as the command may be there to make room on a full
      // disk.
      report(error)
      return nil
    }
  }

  /// Calls `finish` with each intent about a store that a command has left behind.
  ///
  /// While an intent is processed, no other command can read it.
  ///
  /// - Parameters:
  ///   - place: The folder of the store.
  ///   - now: The current time.
  ///   - finish: Returns whether the intent can be removed.
  /// - Returns: The number of files that were not intents and were removed.
  func forEachLeftBehind(
    about place: Intent.Place, at now: Timestamp, _ finish: (Intent) -> Bool
  ) -> Int {
    guard let path, let folder = try? Directory(path), (try? folder.requirePrivate()) != nil
    else { return 0 }
    var damaged = 0
    for name in names(in: folder) {
      do throws(FileError) {
        // The lock is what tells a running command from a dead one. The system drops it when a
        // process ends, however it ends; a process number in the file could have been given to
        // another process.
        guard let file = try HeldFile(leftBehind: name, in: folder) else { continue }
        let status = try file.status()
        let text = try file.read(Int(min(status.size, Self.largestText).bytes), at: 0)
        let isOfNoUse: Bool
        if let intent = Intent(reading: text) {
          // Leave an intent about another store to a command on that store, but not for ever.
          isOfNoUse =
            intent.place.isSame(as: place)
            ? finish(intent)
            : AgeLimit(Self.longestWait, at: now)
              .isExceeded(by: Timestamp(nanosecondsSince1970: status.modified))
        } else {
          isOfNoUse = true
          // A command that was killed while it wrote the header has changed nothing, which is no damage.
          if !Intent.isCutShort(text) { damaged += 1 }
        }
        if isOfNoUse { try folder.remove(name) }
      } catch {
        // Only this user can create files here, so a symbolic link is safe to remove; it is not an intent.
        if error.kind == .symbolicLink, (try? folder.remove(name)) != nil { damaged += 1 }
      }
    }
    return damaged
  }

  /// Returns the names of the intents.
  private func names(in folder: borrowing Directory) -> [String] {
    var names: [String] = []
    try? folder.forEachName { bytes in
      let isIntent = bytes.starts(with: Self.prefix.utf8) && names.count < Self.mostFiles
      if isIntent, let name = String(validating: bytes, as: UTF8.self) { names.append(name) }
    }
    return names.sorted()
  }
}
