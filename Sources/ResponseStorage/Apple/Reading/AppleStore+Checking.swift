public import Bytes
import Files
import SQLite

extension Finding.Code {
  static let shared = Self(
    "shared-body-file", .error, "all but one of its entries have another entry's body")
  static let bodyFolder = Self(
    "body-folder", .error, "body files can be neither read nor removed")
  static let orphan = Self(
    "orphan-body-file", .warning, "it wastes disk space, and nothing else ever removes it",
    repair: .orphans)
  static let youngFile = Self(
    "young-body-file", .note, "an app may be about to store its entry, so it is kept")
  static let undecidedFile = Self(
    "undecided-body-file", .warning,
    "it may belong to a database that cannot be read, so it is kept")
  static let foreignFile = Self(
    "foreign-file", .warning,
    "CFNetwork never creates such a file, but counts it against the capacity")
  static let purgeLeftover = Self(
    "purge-leftover", .warning,
    "CFNetwork tried to remove this folder and failed; delete it while no app has the cache open")
}

extension AppleStore {
  public func searchForDamage(fully: Bool) -> DamageSearch? {
    guard let database = databaseForThreads else { return nil }
    var tables: [AppleDatabaseCheck.Table]?
    if fully {
      // Without a schema to read, there is nothing to gain.
      do {
        tables = try AppleDatabaseCheck.tables(of: database, snapshot.connection)
      } catch { return nil }
    }
    let search = DamageSearch(AppleDatabaseCheck(of: database, fully: fully, tables: tables))
    self.search = search
    return search
  }

  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    var isDamaged = false
    try checkDatabase(fully, search) { finding in
      isDamaged = true
      try body(finding)
    }
    // Each check reports damage by itself, so that one damaged table does not hide what the others
    // find.
    try reportingDamage(body) { try AppleSchemaCheck(snapshot.connection, layout).run(body) }
    try checkFolder(body)
    // Without the column, no row can refer to a file, and so every file would look like an orphan.
    guard layout.hasBodyFiles else { return }
    var shared: Set<UUIDBytes> = []
    try reportingDamage(body) {
      // Only with all names is it known which files are orphans.
      // In a damaged table, a scan by ranges of ids can miss rows that a walk through all pages finds.
      let names = try (isDamaged ? nil : search?.allNames()) ?? namedBodyFiles()
      shared = names.shared
      try checkFiles(but: names.all, now, body)
    }
    guard !shared.isEmpty else { return }
    try reportingDamage(body) {
      try scan([.url, .body]) { response in
        let name = response.bodyFileName?.bytes ?? []
        guard UUIDBytes(name).map(shared.contains) ?? false else { return .next }
        try body(
          Finding(
            .shared, "another entry refers to the same body file", id: response.id,
            url: response.url,
            path: path(of: name)))
        return .next
      }
    }
  }

  /// Reports damage that SQLite finds in the database.
  ///
  /// - Parameters:
  ///   - fully: Whether SQLite also compares the indexes with the tables.
  ///   - search: The same check, if it was started before.
  private func checkDatabase(
    _ fully: Bool, _ search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    func report(_ answer: String) throws {
      for fact in Self.damage(in: answer) {
        try body(Finding(.damagedDatabase, "SQLite reports: \(fact)"))
      }
    }
    try reportingDamage(body) {
      if let search { return try search.forEachAnswer(report) }
      var rows = try snapshot.connection.prepare(
        fully ? "PRAGMA integrity_check" : "PRAGMA quick_check")
      while try rows.step() { try report(String(decoding: rows.bytes(at: 0), as: UTF8.self)) }
    }
  }

  /// Returns what is damaged according to a row of `quick_check`, which can have several lines and a title.
  static func damage(in answer: String) -> [String] {
    answer.utf8.split(separator: UInt8(ascii: "\n"))
      .filter { !$0.elementsEqual("ok".utf8) && !$0.starts(with: "***".utf8) }
      .map { String(decoding: Array($0), as: UTF8.self) }
  }

  /// Runs `read`, and reports a finding if the database turns out to be damaged.
  private func reportingDamage(
    _ body: (Finding) throws -> Void, _ read: () throws -> Void
  ) throws {
    do {
      try read()
    } catch {
      let failure = if let error = error as? SQLiteError { try translated(error) } else { error }
      // Anything but damage ends the check: a database that changed meanwhile, or a disk that
      // fails, says nothing about the cache.
      guard let failure = failure as? StoreError, failure.code == .damaged else { throw failure }
      try body(Finding(.damagedDatabase, failure.reason ?? "it cannot be read to the end"))
    }
  }

  /// Reports a body folder that is not a folder, and what CFNetwork left next to it.
  private func checkFolder(_ body: (Finding) throws -> Void) throws {
    if let status = try? FileStatus.of(files.bodies), !bodies.isOpen {
      let message =
        status.kind == .directory
        ? "'fsCachedData' cannot be read"
        : "'fsCachedData' is \(status.kind.rawValue), not a folder"
      try body(Finding(.bodyFolder, message, path: ByteString(files.bodies)))
    }
    let prefix = Array("fsCachedData".utf8)
    var leftovers: [[UInt8]] = []
    let folder = try? Directory(files.folder, followingLink: true)
    try folder?.forEachName { name in
      let rest = name.dropFirst(prefix.count)
      guard name.starts(with: prefix),
        // To remove everything, CFNetwork renames the folder to `fsCachedData_remove`, and to
        // `fsCachedData` with a UUID if that fails; then it deletes the files in the background. A
        // process that ends too early leaves the folder.
        rest.elementsEqual("_remove".utf8) || UUIDBytes(Array(rest)) != nil
      else { return }
      // These folders are only reported. A running app may be deleting them right now, and this
      // tool never removes a folder with what is in it.
      leftovers.append(name)
    }
    for name in leftovers.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let path = ByteString(Array((files.folder + "/").utf8) + name)
      try body(Finding(.purgeLeftover, "an old body folder was left behind", path: path))
    }
  }
}

extension AppleStore {
  /// Reports the files to which no response refers, in the order of their names.
  private func checkFiles(
    but named: Set<UUIDBytes>, _ now: Timestamp, _ body: (Finding) throws -> Void
  ) throws {
    var findings: [Finding] = []
    try bodies.forEachFile { name, status in
      if let finding = finding(on: name, status, but: named, now) { findings.append(finding) }
    }
    findings.sort { $0.path ?? "" < $1.path ?? "" }
    for finding in findings { try body(finding) }
  }

  /// Returns the path of a file in the folder of body files.
  private func path(of name: [UInt8]) -> ByteString {
    ByteString(Array((files.bodies + "/").utf8) + name)
  }

  /// Returns the finding about a file in the folder of body files; `nil` if a database in the folder refers to it.
  ///
  /// - Parameter named: The files to which the responses of this store refer.
  func finding(
    on name: [UInt8], _ status: FileStatus, but named: Set<UUIDBytes>, _ now: Timestamp
  ) -> Finding? {
    let uuid = UUIDBytes(name)
    if let uuid, named.contains(uuid) || neighbours.names.contains(uuid) { return nil }
    let path = path(of: name)
    // A link, a folder or a pipe is never an orphan: only regular files are ever removed.
    guard status.kind == .regular else {
      return Finding(.foreignFile, "it is \(status.kind.rawValue)", path: path)
    }
    guard uuid != nil, let text = String(validating: name, as: UTF8.self) else {
      return Finding(.foreignFile, "its name is not a UUID", path: path)
    }
    // CFNetwork writes UUIDs in upper case only.
    guard !name.contains(where: { $0 >= UInt8(ascii: "a") }) else {
      return Finding(.foreignFile, "its name has lower-case letters", path: path)
    }
    // Whether or not a process seems to have the cache open: with a rollback journal, an app holds no lock between two
    // transactions, and it may have written the file just now and be about to store the row.
    if FileVersion.isYoung(modified: status.modified, at: now) {
      return Finding(.youngFile, "no entry refers to it yet", path: path)
    }
    if let other = neighbours.unreadable.first {
      return Finding(
        .undecidedFile,
        "no entry refers to it, but '\(other.shownName)' in the same folder cannot be read: \(other.reason)",
        path: path)
    }
    return Finding(
      .orphan, "no entry refers to it", path: path,
      orphan: OrphanFile(name: text, size: status.size, modified: status.modified))
  }
}
