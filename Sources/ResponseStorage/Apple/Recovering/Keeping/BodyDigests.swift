import Bytes
import SQLite

/// The digests of long bodies, for bodies that are found again: a page of rows is in the log many times.
final class BodyDigests {
  /// What tells a body from others without reading its overflow pages.
  struct Key {
    /// A digest of the part of the body that is in the page of its row.
    var local: ByteString.Hash
    /// Its first overflow page.
    var overflow: PageImages.Image
  }

  private let database: TemporaryDatabase
  private var finding: Statement
  private var insertion: Statement

  init() throws {
    // In the order of the files, in which most bodies are found. The time of a state follows from its place.
    database = try TemporaryDatabase(
      tables: [
        """
        CREATE TABLE bodies(file INTEGER, offset INTEGER, local INTEGER, digest INTEGER, complete INTEGER,
        PRIMARY KEY(file, offset, local)) WITHOUT ROWID
        """
      ])
    finding = try database.prepare(
      "SELECT digest, complete FROM bodies WHERE file = ?1 AND offset = ?2 AND local = ?3")
    insertion = try database.prepare("INSERT INTO bodies VALUES(?1, ?2, ?3, ?4, ?5)")
  }

  /// Returns the digest of a body that was found before, and whether all of it could be read.
  func digest(of key: Key) throws -> (digest: Int, isComplete: Bool)? {
    let image = key.overflow
    try database.restart(&finding, Int64(image.file.number), image.offset, Int64(key.local))
    guard try database.step(&finding) else { return nil }
    return (Int(finding.integer(at: 0)), finding.integer(at: 1) == 1)
  }

  /// Adds a body that was not found before.
  func add(_ key: Key, _ digest: Int, isComplete: Bool) throws {
    let image = key.overflow
    try database.restart(
      &insertion, Int64(image.file.number), image.offset, Int64(key.local), Int64(digest),
      isComplete ? 1 : 0)
    _ = try database.step(&insertion)
  }
}
