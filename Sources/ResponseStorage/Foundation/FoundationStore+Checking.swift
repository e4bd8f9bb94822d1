public import Bytes
import Files

extension Finding.Code {
  static let schemeNotInKey = Self(
    "scheme-not-in-key", .note,
    "a response received over HTTPS is also used for HTTP, and vice versa")
  static let collidingEntries = Self(
    "colliding-entries", .warning,
    "the app may get either entry for both URLs, even another user's")
}

extension Finding.Code {
  private static let lost = "it wastes disk space, and nothing else ever removes it"
  static let temporaryFile = Self("temporary-file", .warning, lost, repair: .orphans)
  static let ignoredFile = Self("ignored-file", .warning, lost, repair: .orphans)
  static let youngTemporaryFile = Self(
    "young-temporary-file", .note, "an app may be about to store its entry, so it is kept")
}

extension FoundationStore {
  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    for name in ignored {
      if let finding = finding(on: name, now) { try body(finding) }
    }
    // Damage to a file is a note on its response.
    guard try count() > 0 else { return }
    try body(Finding(.schemeNotInKey, "URLCache looks up responses without the scheme"))
    try forEachCollision(body)
  }

  /// Returns the finding on a file that Foundation ignores; `nil` if it does not exist any more.
  func finding(on name: FoundationFileName, _ now: Timestamp) -> Finding? {
    guard let status = try? files.status(of: name) else { return nil }
    let path = ByteString(Array("\(files.path)/".utf8) + name.bytes)
    let isTemporary = name.kind == .temporary
    let code = isTemporary ? Finding.Code.temporaryFile : .ignoredFile
    var message =
      isTemporary
      ? "it was not written completely; URLCache neither counts nor removes it"
      : "URLCache does not recognize its name, and neither counts nor removes it"
    // Only regular files are ever removed, and a plan names them in text.
    guard let version = FileVersion(status),
      let text = String(validating: name.bytes, as: UTF8.self)
    else {
      if status.kind != .regular { message = "it is \(status.kind.rawValue), so it is kept" }
      return Finding(code, message, path: path)
    }
    // Foundation writes an entry to `.dat.nosync…` and renames it at the end. A process that is
    // killed leaves the file behind, and Foundation never removes it, but a young one may still
    // become an entry.
    if version.isYoung(at: now) {
      return Finding(
        isTemporary ? .youngTemporaryFile : code,
        isTemporary ? message : message + "; it is kept as it is young", path: path)
    }
    return Finding(
      code, message, path: path,
      orphan: OrphanFile(name: text, size: version.size, modified: version.modified))
  }

  /// Reports files with the same key but different URLs, each with the first file of its key.
  private func forEachCollision(_ body: (Finding) throws -> Void) throws {
    var firsts: [[UInt8]: (name: FoundationFileName, url: ByteString)] = [:]
    for name in names {
      // Only files that share a key are opened, so the check of a healthy store reads no file for
      // this.
      guard case .response(_, let key) = name.kind, repeatedKeys.contains(key),
        let url = read(name, .url)?.url
      else { continue }
      guard let first = firsts[key] else {
        firsts[key] = (name, url)
        continue
      }
      if first.url == url { continue }
      let other = String(decoding: first.name.id.bytes, as: UTF8.self)
      try body(
        Finding(
          .collidingEntries,
          "it has the same key as the entry '\(other)', which is for a different URL",
          id: .file(name.id), url: url))
    }
  }
}
