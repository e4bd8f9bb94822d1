import Administration
import Bytes
import Rendering

extension StoreLookup {
  /// Returns what the user should know about an entry that was found by its URL or its key.
  func words(_ secrets: SecretPolicy) -> String {
    func shown(_ url: ByteString) -> String { EntryNames.text(secrets.url(url, for: .people)) }
    let (asked, key) = (shown(asked), EntryNames.text(shownKey))
    guard isAnswer else {
      return
        "the entry for '\(asked)' has the key '\(key)', so the cache does not use it for that URL"
    }
    let stored = stored.map { "'\(shown($0))'" } ?? "an unknown URL"
    if isRedirected {
      return "the cache answers '\(asked)' with the entry for \(stored), which has the key '\(key)'"
    }
    // Queries often name a user or a session, and the store does not tell them apart.
    let warning = differsByQuery ? "; the entry may be meant for another user" : ""
    return
      "the cache answers '\(asked)' with the entry for \(stored): both have the key '\(key)'\(warning)"
  }
}
