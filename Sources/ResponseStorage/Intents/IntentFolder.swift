import Bytes
public import Files

/// Where commands note which files of a store they are about to remove or to add, so that the next command
/// ends what one that was killed has begun: a folder in which only this user can make files.
public struct IntentFolder: Sendable {
  /// The path of the folder, which need not be there; `nil` if this user has no place for one.
  let path: String?
  /// Told why nothing can be noted.
  let report: @Sendable (FileError?) -> Void

  /// What the names of all intents begin with.
  private static let prefix = "intent-"
  /// The most bytes that are read of an intent; a batch is about 20 MB at most.
  private static let largestText = ByteCount(1 << 26)
  /// The most intents that are looked at.
  private static let mostFiles = 10_000
  /// For how long an intent waits for a command on its cache, in seconds.
  private static let longestWait = 90 * 86_400.0

  /// Creates a description of a folder, and no folder.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the folder; `nil` if this user has no place for one.
  ///   - report: Told why nothing can be noted, which keeps no command from its work; `nil` if there is no
  ///     place for the folder.
  public init(at path: String?, report: @escaping @Sendable (FileError?) -> Void) {
    self.path = path
    self.report = report
  }

  /// Begins an intent.
  func begin(_ place: Intent.Place) -> OpenIntent? {
    guard let path else {
      report(nil)
      return nil
    }
    do throws(FileError) {
      try Directory.createWithParents(path)
      let folder = try Directory(path)
      try folder.requirePrivate()
      let random = String(UInt64.random(in: 0 ... .max), radix: 36)
      let file = try HeldFile(
        creating: "\(Self.prefix)\(CurrentProcess.number)-\(random)", in: folder)
      return OpenIntent(place, folder, file, report)
    } catch {
      report(error)
      return nil
    }
  }

  /// Calls `finish` with each intent about a store that a command has left behind.
  ///
  /// While an intent is looked at, no other command looks at it.
  ///
  /// - Parameters:
  ///   - place: The folder of the store.
  ///   - now: The present time.
  ///   - finish: Returns whether the intent is of no more use, and is to be removed.
  /// - Returns: The number of files that were no intents, and were removed.
  func forEachLeftBehind(
    about place: Intent.Place, at now: Timestamp, _ finish: (Intent) -> Bool
  ) -> Int {
    guard let path, let folder = try? Directory(path), (try? folder.requirePrivate()) != nil
    else { return 0 }
    var damaged = 0
    for name in names(in: folder) {
      do throws(FileError) {
        guard let file = try HeldFile(leftBehind: name, in: folder) else { continue }
        let status = try file.status()
        let text = try file.read(Int(min(status.size, Self.largestText).bytes), at: 0)
        let isOfNoUse: Bool
        if let intent = Intent(reading: text) {
          isOfNoUse =
            intent.place.isSame(as: place)
            ? finish(intent)
            : AgeLimit(Self.longestWait, at: now)
              .isExceeded(by: Timestamp(nanosecondsSince1970: status.modified))
        } else {
          isOfNoUse = true
          if !Intent.isCutShort(text) { damaged += 1 }
        }
        if isOfNoUse { try folder.remove(name) }
      } catch {
        // Only this user can make files here, and a link or a pipe is no intent.
        if error.kind == .symbolicLink, (try? folder.remove(name)) != nil { damaged += 1 }
      }
    }
    return damaged
  }

  /// The names of the intents.
  private func names(in folder: borrowing Directory) -> [String] {
    var names: [String] = []
    try? folder.forEachName { bytes in
      let isIntent = bytes.starts(with: Self.prefix.utf8) && names.count < Self.mostFiles
      if isIntent, let name = String(validating: bytes, as: UTF8.self) { names.append(name) }
    }
    return names.sorted()
  }
}
