import Administration
import Bytes

extension URLCacheAdmin.List {
  /// The header fields that only requests have.
  private static let requestFields: Set<ByteString> = [
    "authorization", "proxy-authorization", "cookie", "accept", "accept-language", "user-agent",
    "referer", "origin", "if-none-match", "if-modified-since",
  ]

  /// Suggests to look in other parts of the entries, if a text or a header field selected nothing.
  func suggestOtherParts(in environment: CommandEnvironment) {
    if let text = selection.contains.first, text.utf8.first != UInt8(ascii: "-") {
      let words = ["grep", text] + (cache.cache.map { [$0] } ?? [])
      environment.hint(
        "search URLs and header fields, too, with: \(OptionHints.commandLine(words))")
    }
    let isOfRequests = selection.header.contains {
      Self.requestFields.contains($0.name.asciiLowercased)
    }
    if isOfRequests, environment.words.contains("--header") {
      let words = environment.words.map { $0 == "--header" ? "--request-header" : $0 }
      environment.hint("select by request header fields with: \(OptionHints.commandLine(words))")
    }
  }
}
