import Bytes
import Files
public import ResponseStorage

/// The files of a cache, and who can read them.
public struct CacheFiles: Sendable {
  /// The folder of the cache.
  public let folder: String

  /// The name of the database; `nil` for a cache without one.
  public let database: String?

  /// A file in which the app has listed the entries; `nil` if there is none.
  private let listing: (path: String, size: ByteCount)?

  /// Finds the files of a store; `nil` if it is an archive.
  public init?(of store: StoreDescription) {
    guard let place = store.place else { return nil }
    (folder, database) = place
    listing = store.listing
  }

  /// Returns a finding for a file in which the app has listed the entries, for each file that others can read, and one
  /// for all body files together.
  public func findings() -> [AuditFinding] {
    guard let listing else { return findingsOnPermissions() }
    let name = listing.path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    return [AuditFinding(.listed, .file(ByteString(name)), bytes: listing.size)]
      + findingsOnPermissions()
  }

  /// Whether the files are where an app keeps them, and not a copy that somebody made elsewhere. Only there, permissions
  /// are checked.
  public var isAmongCaches: Bool {
    let names = (Directory.resolvedPath(folder) ?? folder).utf8.split(separator: UInt8(ascii: "/"))
      .map { ByteString(Array($0)).asciiLowercased.bytes }
    return names.contains { name in name.firstRange(of: Array("cache".utf8)) != nil }
      && !names.contains { $0.reversed().starts(with: ".xcappdata".utf8.reversed()) }
  }

  private func findingsOnPermissions() -> [AuditFinding] {
    // If others cannot enter the folder, the permissions of the files do not matter.
    guard isAmongCaches, Self.canBeEntered(folder),
      let folder = try? Directory(folder, followingLink: true)
    else {
      return []
    }
    var findings: [AuditFinding] = []
    guard let database else {
      if let sum = Self.readable(in: folder) { findings.append(sum) }
      return findings
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
      let name = database + suffix
      guard let status = try? folder.status(of: name), status.kind == .regular,
        status.isReadableByOthers
      else { continue }
      findings.append(
        AuditFinding(.readableByOthers, .file(ByteString(name)), bytes: status.size))
    }
    if let bodies = try? Directory("fsCachedData", in: folder),
      (try? bodies.status())?.canBeEnteredByOthers ?? false, var sum = Self.readable(in: bodies)
    {
      sum.place = .file("fsCachedData")
      findings.append(sum)
    }
    return findings
  }

  /// Returns one finding for all readable files of a folder, and of the folders in it that others can enter.
  private static func readable(in folder: borrowing Directory) -> AuditFinding? {
    var (count, bytes): (Int64, ByteCount) = (0, 0)
    // A body of WebKit has several names.
    var seen: Set<[UInt64]> = []
    // The records of WebKit are three folders below that of their version.
    forEachFile(in: folder, depth: 3) { status in
      guard status.isReadableByOthers, seen.insert(status.identity).inserted else { return }
      count += 1
      bytes += status.size
    }
    guard count > 0 else { return nil }
    var finding = AuditFinding(
      .readableByOthers, .file("."), detail: ByteString("\(count) files"), bytes: bytes)
    finding.count = count
    return finding
  }

  private static func forEachFile(
    in folder: borrowing Directory, depth: Int, _ body: (FileStatus) -> Void
  ) {
    try? folder.forEachName { name in
      guard let status = try? folder.status(of: name) else { return }
      if status.kind == .regular { body(status) }
      guard depth > 0, status.kind == .directory, status.canBeEnteredByOthers,
        let inner = try? Directory(String(decoding: name, as: UTF8.self), in: folder)
      else { return }
      forEachFile(in: inner, depth: depth - 1, body)
    }
  }

  /// Whether others can enter a folder and all folders that contain it.
  private static func canBeEntered(_ folder: String) -> Bool {
    var path: String? = Directory.resolvedPath(folder) ?? absolutePath(folder)
    while let folder = path {
      guard (try? FileStatus.of(folder))?.canBeEnteredByOthers ?? true else { return false }
      let parent = Directory.parent(of: folder)
      path = parent == folder ? nil : parent
    }
    return true
  }
}
