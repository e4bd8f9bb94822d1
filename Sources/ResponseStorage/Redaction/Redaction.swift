public import Bytes
import Files
public import Secrets

/// The removal of secrets from the responses of one archive.
///
/// A secret in a URL is replaced by `REDACTED-1`, `REDACTED-2` and so on. Within the archive, the same
/// secret always gets the same number, and different secrets get different numbers. So different URLs and
/// keys stay different, and the number reveals nothing about the secret.
public final class Redaction {
  /// What is left out.
  public let filter: CredentialFilter

  /// What was left out so far, and what may be left.
  public internal(set) var tally = Tally()

  /// Numbers of redactions; they count entries unless stated otherwise.
  public struct Tally: Hashable, Sendable {
    /// The entries with secrets in header fields.
    public var headers: Int64 = 0
    /// The entries with secrets in URLs, keys or partitions.
    public var urls: Int64 = 0
    /// The entries with a request body.
    public var requestBodies: Int64 = 0
    /// The entries with user info, or with properties that an app attached to the request.
    public var attachments: Int64 = 0
    /// The number of different secrets that were replaced in URLs.
    public var replacements: Int64 = 0
    /// The entries whose URLs have values that look like tokens and were kept.
    public var keptTokens: Int64 = 0
    /// The names of query parameters whose values were kept, percent-decoded, up to ``mostNames``.
    public var keptNames: Set<ByteString> = []

    /// The most names to keep, as a hostile cache can have any number of them.
    public static let mostNames = 1_000
    /// The longest name that is kept, in bytes.
    static let longestName = 64

    /// Creates an empty tally.
    public init() {}
  }

  private let secrets: URLSecrets
  /// The numbers of secrets, by the first half of their SHA-256, as secrets can be long and numerous.
  // 128 bits of a digest do not collide by accident. Numbers and not digests appear in the archive,
  // as a short secret can be guessed from its digest.
  private var numbers: [[UInt8]: Int64] = [:]

  /// Creates a redaction.
  public init(_ filter: CredentialFilter) {
    self.filter = filter
    secrets = filter.secrets
  }

  /// Returns the replacement for a secret.
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

  /// Returns a URL, or text with URLs, without secrets.
  ///
  /// User information is removed with its `@`, unless tokens are left out too: then it gets a number, so that
  /// URLs that differ only in it stay different.
  public func url(_ url: ByteString, as form: URLSecrets.Form = .url) -> ByteString {
    secrets.replacing(in: url, as: form, by: replacement(of:))
  }

  private func replacement(of secret: URLSecrets.Secret) -> ByteString? {
    switch secret {
    case .userInformation(let text): filter.includesTokens ? pseudonym(of: text) : nil
    case .value(let text): pseudonym(of: text)
    }
  }

  /// Returns the header fields without secret fields, and without secrets in URLs of other fields.
  public func headers(_ headers: HeaderFields) -> HeaderFields {
    HeaderFields(
      headers.fields.compactMap { field in
        filter.isSecret(field.name)
          ? nil : .init(name: field.name, value: text(field.value, named: field.name))
      })
  }

  /// Returns the value of a header field, or of a property, without the secrets that lists mask.
  func text(_ value: ByteString, named name: ByteString = "") -> ByteString {
    secrets.replacing(in: value, ofField: name, by: replacement(of:))
  }

  /// Returns a response without secrets. The request body, the user info and the properties of the request
  /// are removed, as any of them may be secret.
  public func response(_ response: StoredResponse) -> StoredResponse {
    var new = response
    new.key = new.key.map { url($0) }
    new.url = new.url.map { url($0) }
    new.partition = new.partition.map { url($0) }
    new.responseHeaders = new.responseHeaders.map(headers)
    new.request.url = new.request.url.map { url($0) }
    new.request.headers = new.request.headers.map(headers)
    // A login form is a request body.
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

  /// Counts what a response keeps after its secrets were removed.
  public func note(_ response: StoredResponse) {
    guard let url = response.url ?? response.request.url ?? response.key else { return }
    if !filter.includesTokens, URLSecrets().replacing(in: url, by: { _ in nil }) != url {
      tally.keptTokens += 1
    }
    for parameter in URLParts(url.bytes).parameters {
      // The names are shown to the user, who decides which of them are secret after all.
      guard tally.keptNames.count < Tally.mostNames else { return }
      guard let value = parameter.value, !value.isEmpty,
        parameter.name.count <= Tally.longestName, !value.starts(with: "REDACTED-".utf8)
      else { continue }
      tally.keptNames.insert(ByteString(URLSecrets.percentDecoded(parameter.name)))
    }
  }
}
