public import Administration
public import ArgumentParser
import Bytes
import ResponseArchives
import ResponseStorage

/// The options for importing entries.
struct ImportOptions: ParsableArguments {
  @Option(
    help: "What to do with an entry that the cache has another of: skip, replace, newer, error.")
  var onConflict = ImportConflictRule.skip

  @Option(
    help: ArgumentHelp(
      "Make a new cache of this kind in the folder that '-c' names: apple, foundation.",
      valueName: "kind"))
  var create: CreatedStore?

  @Option(
    help: ArgumentHelp("The schema of a new cache: 202, 203.", valueName: "version"),
    completion: .list(["202", "203"]))
  var schema: Int64 = 203

  @Flag(help: "Import responses to other methods than GET from a HAR, WARC or WACZ too.")
  var anyMethod = false

  @Option(
    help: ArgumentHelp(
      "Change a host of URLs on the way, in keys, requests and responses; not in header fields.",
      valueName: "old=new"), transform: parseHostMapping)
  var mapHost: [ResponseRewriting.HostMapping] = []

  @Option(
    help: ArgumentHelp(
      "Attach the time of the import to each entry, in its user info.", valueName: "key"))
  var stampUserInfo: String?

  @Flag(help: "Take what comes before the damage of a damaged archive.")
  var salvage = false

  @Flag(help: "Do not have SQLite check the database before it is changed.")
  var noVerify = false

  @Option(
    help: ArgumentHelp(
      "Raise or lower a limit of archives: entries, members, member, total, urls, ratio, document, list.",
      valueName: "name=number"),
    completion: .list(ArchiveLimits.Name.allCases.map { "\($0.rawValue)=" }),
    transform: parseArchiveLimit)
  var archiveLimit: [(ArchiveLimits.Name, Int64)] = []

  func validate() throws {
    // Older ones are those of systems before macOS 10.13.
    guard [202, 203].contains(schema) else { throw ValidationError("'--schema' is 202 or 203.") }
    guard create == .apple || schema == 203 else {
      throw ValidationError("'--schema' is that of a new cache, and needs '--create apple'.")
    }
  }

  /// The cache to create; `nil` if it must exist.
  var newStore: NewStore? {
    switch create {
    case .apple: .apple(AppleSchema(rawValue: schema) ?? .version203)
    case .foundation: .foundation
    case nil: nil
    }
  }

  /// Returns the changes to entries on import.
  ///
  /// - Parameter now: The time of the import.
  func rewriting(at now: Timestamp) -> ResponseRewriting {
    var rewriting = ResponseRewriting()
    rewriting.hosts = mapHost
    rewriting.stamp = stampUserInfo.map { .init(key: ByteString($0), time: now) }
    return rewriting
  }

  /// The limits on the contents of the archive.
  var limits: ArchiveLimits {
    var limits = ArchiveLimits()
    for (name, value) in archiveLimit { limits[name] = value }
    return limits
  }
}

/// The kinds of caches that can be created.
enum CreatedStore: String, CaseIterable, ExpressibleByArgument {
  case apple, foundation
}

extension ImportConflictRule: ExpressibleByArgument {}

/// Parses a limit: `total=64GiB`.
func parseArchiveLimit(_ text: String) throws -> (ArchiveLimits.Name, Int64) {
  let parts = text.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
  guard parts.count == 2,
    let name = ArchiveLimits.Name(rawValue: String(decoding: Array(parts[0]), as: UTF8.self))
  else {
    let names = ArchiveLimits.Name.allCases.map(\.rawValue).joined(separator: ", ")
    throw ValidationError(
      "'\(printable(text))' is no limit. Write one of \(names), '=' and a number.")
  }
  return (name, try parseSize(String(decoding: Array(parts[1]), as: UTF8.self)).bytes)
}

/// Parses a change of hosts: `example.com=staging.example.com:8080`.
func parseHostMapping(_ text: String) throws -> ResponseRewriting.HostMapping {
  let parts = text.utf8.split(
    separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
  // Reject characters that end the host in a URL.
  let isHost = { (part: Substring.UTF8View) in
    !part.isEmpty && part.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\\=".utf8.contains($0) }
  }
  guard parts.count == 2, parts.allSatisfy(isHost) else {
    throw ValidationError(
      "'\(printable(text))' names no two hosts. Write 'old.example=new.example'.")
  }
  return .init(from: ByteString(Array(parts[0])), to: ByteString(Array(parts[1])))
}
