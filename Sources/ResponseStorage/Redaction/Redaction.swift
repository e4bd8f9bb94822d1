public import Bytes
import Files

/// The leaving out of secrets from the responses of one archive.
///
/// A secret in a URL is replaced by `REDACTED-1`, `REDACTED-2` and so on: the same secret by the same
/// number in all of the archive, different ones by different numbers. So URLs and keys that differ stay
/// different, and nothing of the secret can be computed from its number.
public final class Redaction {
  /// What is left out.
  public let filter: CredentialFilter

  /// What was left out so far, and what may remain.
  public internal(set) var tally = Tally()

  /// How often something was left out, in entries unless it says otherwise.
  public struct Tally: Hashable, Sendable {
    /// The entries with secrets in header fields.
    public var headers: Int64 = 0
    /// The entries with secrets in URLs, keys or partitions.
    public var urls: Int64 = 0
    /// The entries with a request body.
    public var requestBodies: Int64 = 0
    /// The entries with user info, or with properties that an application attached to the request.
    public var attachments: Int64 = 0
    /// The number of different secrets that were replaced in URLs.
    public var replacements: Int64 = 0
    /// The entries in whose URLs values were kept that look like tokens.
    public var keptTokens: Int64 = 0
    /// The names of query parameters whose values were kept, percent-decoded, up to ``mostNames``.
    public var keptNames: Set<ByteString> = []

    /// How many names are kept at most: a cache can have as many as it likes.
    public static let mostNames = 1_000
    /// The longest name that is kept, in bytes.
    static let longestName = 64

    /// Creates a tally of nothing.
    public init() {}
  }

  private let secrets: URLSecrets
  /// The numbers of secrets, by the first half of their SHA-256: secrets can be long, and there can be many.
  private var numbers: [[UInt8]: Int64] = [:]

  /// Creates a redaction.
  public init(_ filter: CredentialFilter) {
    self.filter = filter
    secrets = filter.secrets
  }

  /// What stands for a secret.
  func pseudonym(of secret: ArraySlice<UInt8>) -> ByteString {
    var digest = Digest()
    digest.update(secret)
    let next = Int64(numbers.count) + 1
    let number = numbers[Array(digest.bytes[..<16]), default: next]
    if number == next {
      numbers[Array(digest.bytes[..<16])] = next
      tally.replacements = next
    }
    return ByteString("REDACTED-\(number)")
  }

  /// A URL, or text with URLs in it, without its secrets.
  ///
  /// User information is left out with its `@` unless tokens are left out too: then URLs that differ
  /// only in it stay different.
  public func url(_ url: ByteString, as form: URLSecrets.Form = .url) -> ByteString {
    secrets.replacing(in: url, as: form) { secret in
      switch secret {
      case .userInformation(let text): filter.includesTokens ? pseudonym(of: text) : nil
      case .value(let text): pseudonym(of: text)
      }
    }
  }

  /// The header fields without those that hold secrets, and without the secrets in the URLs of others.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    HeaderFields(
      headers.fields.compactMap { field in
        filter.isSecret(field.name) ? nil : .init(name: field.name, value: text(field.value))
      })
  }

  /// The value of a header field, without the secrets of URLs in it; a value with a token or with credentials
  /// is one secret.
  func text(_ value: ByteString) -> ByteString {
    let new = url(value, as: .text)
    let isSecret =
      filter.includesTokens
      && (URLSecrets.hasWebToken(new.bytes[...]) || Credentials.areIn(new.bytes[...]))
    return isSecret ? pseudonym(of: value.bytes[...]) : new
  }

  /// A response without secrets: its request has no body, and what an application or the URL loading
  /// system attached is gone, as any of it may be secret.
  public func response(_ response: StoredResponse) -> StoredResponse {
    var new = response
    new.key = new.key.map { url($0) }
    new.url = new.url.map { url($0) }
    new.partition = new.partition.map { url($0) }
    new.responseHeaders = new.responseHeaders.map(headers)
    new.request.url = new.request.url.map { url($0) }
    new.request.headers = new.request.headers.map(headers)
    new.request.body = nil
    new.userInfo = []
    new.protocolProperties = []
    let sameURLs =
      new.key == response.key && new.url == response.url && new.partition == response.partition
      && new.request.url == response.request.url
    let sameHeaders =
      new.responseHeaders == response.responseHeaders
      && new.request.headers == response.request.headers
    if !sameURLs { tally.urls += 1 }
    if !sameHeaders { tally.headers += 1 }
    if response.request.body != nil { tally.requestBodies += 1 }
    if !response.userInfo.isEmpty || !response.protocolProperties.isEmpty {
      tally.attachments += 1
    }
    note(new)
    return new
  }

  /// Counts what a response keeps, once its secrets are left out.
  public func note(_ response: StoredResponse) {
    guard let url = response.url ?? response.request.url ?? response.key else { return }
    if !filter.includesTokens, URLSecrets().replacing(in: url, by: { _ in nil }) != url {
      tally.keptTokens += 1
    }
    for parameter in URLParts(url.bytes).parameters {
      guard tally.keptNames.count < Tally.mostNames else { return }
      guard let value = parameter.value, !value.isEmpty,
        parameter.name.count <= Tally.longestName, !value.starts(with: "REDACTED-".utf8)
      else { continue }
      tally.keptNames.insert(ByteString(URLSecrets.percentDecoded(parameter.name)))
    }
  }
}
