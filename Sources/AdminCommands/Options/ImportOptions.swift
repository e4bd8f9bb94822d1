public import Administration
public import ArgumentParser
import Bytes
import ResponseArchives
import ResponseStorage

/// The options for importing entries.
struct ImportOptions: ParsableArguments {
  @Option(
    help: "What to do if the cache has an entry with the same key: skip, replace, newer, error.")
  var onConflict = ImportConflictRule.skip

  @Option(
    help: ArgumentHelp(
      "Create a new cache in this format in the folder given with '-c': apple, foundation.",
      valueName: "kind"))
  var create: CreatedStore?

  @Option(
    help: ArgumentHelp(
      "With '--create apple', the schema of the new cache: 202, 203.", valueName: "version"),
    completion: .list(["202", "203"]))
  var schema: Int64 = 203

  @Flag(help: "Also import responses to methods other than GET from a HAR, WARC or WACZ.")
  var anyMethod = false

  @Option(
    help: ArgumentHelp(
      "Replace a host in the URLs of keys, requests and responses, but not in header fields.",
      valueName: "old=new"), transform: parseHostMapping)
  var mapHost: [ResponseRewriting.HostMapping] = []

  @Option(
    help: ArgumentHelp(
      "Add the time of the import to each entry's user info, under this key.", valueName: "key"))
  var stampUserInfo: String?

  @Flag(help: "If the archive is damaged, import the entries before the damage.")
  var salvage = false

  @Flag(
    help: "Import nothing if a record of a WARC or WACZ does not match its digest.")
  var strict = false

  @Flag(help: "Skip the SQLite check of the database before changing it.")
  var noVerify = false

  @Option(
    help: ArgumentHelp(
      "Change an archive limit: entries, members, member, total, urls, ratio, document, list.",
      valueName: "name=number"),
    completion: .list(ArchiveLimits.Name.allCases.map { "\($0.rawValue)=" }),
    transform: parseArchiveLimit)
  var archiveLimit: [(ArchiveLimits.Name, Int64)] = []

  func validate() throws {
    guard !strict || !salvage else {
      throw ValidationError("'--strict' and '--salvage' cannot be combined.")
    }
    // Older ones are those of systems before macOS 10.13.
    guard [202, 203].contains(schema) else {
      throw ValidationError("'--schema' must be 202 or 203.")
    }
    guard create == .apple || schema == 203 else {
      throw ValidationError("'--schema' needs '--create apple'.")
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

  /// Returns the words that import an archive into a cache that exists.
  func wordsAdding(_ archive: any ResponseArchive, to path: String) -> [String] {
    ["import", archive.description.path, "-c", path] + (anyMethod ? ["--any-method"] : [])
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
      "'\(printable(text))' is not a limit. Use NAME=NUMBER, where NAME is one of: \(names).")
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
      "'\(printable(text))' does not name two hosts. Use 'old.example=new.example'.")
  }
  return .init(from: ByteString(Array(parts[0])), to: ByteString(Array(parts[1])))
}
