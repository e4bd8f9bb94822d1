public import Bytes

extension Finding.Code {
  static let schemeNotInKey = Self(
    "scheme-not-in-key", .note,
    "a response received over HTTPS is also used for HTTP, and vice versa")
  static let collidingEntries = Self(
    "colliding-entries", .warning,
    "the app may get either entry for both URLs, even another user's")
}

extension FoundationStore {
  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    // Damage to a file is a note on its response.
    guard try count() > 0 else { return }
    try body(Finding(.schemeNotInKey, "URLCache looks up responses without the scheme"))
    try forEachCollision(body)
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
