extension Finding.Code {
  static let schemeNotInKey = Self(
    "scheme-not-in-key", .note,
    "what came over HTTPS is also given for HTTP, and the other way round")
}

extension FoundationStore {
  public func forEachFinding(
    fully: Bool, now: Timestamp, _ body: (Finding) throws -> Void
  ) throws {
    // What is wrong with a file is a note on its response.
    guard try count() > 0 else { return }
    try body(Finding(.schemeNotInKey, "URLCache looks responses up without the scheme"))
  }
}
